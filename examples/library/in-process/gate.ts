// The server is an object of this process, and the suite is a value: nothing is started and no file is read.
import { runGate, type SuiteInput } from 'mcp-eval-ci';
import { createNotesServer } from '../notes/server.ts';

const titles = ['milk', 'a title with spaces', 'Übermut', ''];
const suite: SuiteInput = {
  suite: 'Titles of notes',
  cases: titles.map((title) => ({
    title: `Keeps ${JSON.stringify(title)}`,
    steps: [
      { toolCall: 'add_note', arguments: { title, text: `the text of ${title}` } },
      { toolCall: 'read_note', arguments: { title } },
      { assert: { toolResultContains: `the text of ${title}` } },
    ],
  })),
};
const report = await runGate({
  cwd: import.meta.dirname,
  server: createNotesServer,
  evals: suite,
  reportDir: '../report',
});
for (const { title, passed, total } of report.cases) console.log(`${passed} of ${total}  ${title}`);
process.exitCode = report.verdict.outcome === 'passed' ? 0 : 1;
