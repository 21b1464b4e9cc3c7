import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { runAction } from '../support/runner/run-action.ts';
import { createWorkspace, everythingOverStdio, plainServer } from '../support/workspace.ts';
import { judgeBlockKind, listYamlBlocks, type YamlBlock } from '../support/text/yaml-blocks.ts';

const root = path.resolve(import.meta.dirname, '../..');

/** Lists every example of a document that can run as its own file. */
function listRunnable(file: string): YamlBlock[] {
  const blocks = listYamlBlocks(file, readFileSync(path.join(root, file), 'utf8'));
  return blocks.filter(({ text }) => ['suite', 'cases'].includes(judgeBlockKind(text)));
}

function toEvalsFile({ text }: YamlBlock, index: number): [name: string, text: string] {
  const head = `suite: Example ${index}\nid: example-${index}\n`;
  const suite =
    judgeBlockKind(text) === 'suite'
      ? head + text.replaceAll(/^(?:suite|id):.*\n/gm, '')
      : `${head}cases:\n${text.replaceAll(/^(?=.)/gm, '  ')}`;
  return [`evals/${index}.evals.yaml`, suite];
}

/** Examples with tools that server-everything lacks. */
const ofOtherServers = [
  'Finds the note that it created',
  'Serves a valid weather view',
  'Finishes the job',
  'Reads a note',
];

/** The answer of `get-structured-content` for Chicago. */
const chicago = { temperature: 36, conditions: 'Light rain / drizzle', humidity: 82 };

/** The recording of a case whose server sends no request. */
const noRequests = { version: 1, case: 'Adds two numbers', sessions: [{ iteration: 1, exchanges: [] }] };

describe('the evals of the documents', () => {
  it('pass against the server whose tools they use', async () => {
    const all = ['README.md', 'docs/evals.md'].flatMap(listRunnable);
    const blocks = all.filter(({ text }) => !ofOtherServers.some((title) => text.includes(`title: ${title}`)));
    expect(blocks.length).toBe(all.length - ofOtherServers.length);
    expect(blocks.length).toBeGreaterThan(12);
    await using workspace = await createWorkspace({
      ...Object.fromEntries(blocks.map(toEvalsFile)),
      'evals/notes/milk.txt': 'two bottles\n',
      'evals/upstream/adds-two-numbers.json': JSON.stringify(noRequests),
      'evals/snapshots/chicago.json': JSON.stringify(chicago),
    });
    const run = await runAction({
      workspace: workspace.path,
      inputs: {
        ...plainServer,
        isolation: 'iteration',
        'server-command': everythingOverStdio,
        evals: 'evals/*.evals.yaml',
      },
    });
    // Shows the log, which names the failing example.
    expect({ verdict: run.outputs['verdict'], log: run.log }).toMatchObject({ verdict: 'passed' });
  });
});
