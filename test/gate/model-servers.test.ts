import { describe, expect, it } from 'vitest';
import type { CaseReport } from '../../src/model/case-report.ts';
import type { Report } from '../../src/model/report.ts';
import { createHurriedClock } from '../support/clocks/bent-clock.ts';
import { runEmbeddedGate } from '../support/gate/embedded-gate.ts';
import {
  type Conversation,
  independentModels,
  openIndependentProvider,
  writeConversations,
} from '../support/models/independent-provider.ts';
import type { ProviderFormat } from '../support/models/scripted-provider.ts';
import { filesystemServerPath, memoryServerPath } from '../support/servers/bundled-servers.ts';
import { createWorkspace, everythingOverStdio, type Workspace } from '../support/workspace.ts';
import { memoryConversations } from './memory-conversations.ts';
import { converseAboutFiles, everythingConversations } from './model-conversations.ts';

const formats: ProviderFormat[] = ['anthropic', 'compatible'];

/** Shortens the waits before a repeated call, but no time limit. */
const quickClock = createHurriedClock({ fromMs: 250, toMs: 30_000, instead: 50, limitsMs: [10_000] });

function readResult({ passed, failed, planned }: CaseReport): string {
  if (passed + failed < planned) return 'unscored';
  return failed > 0 ? 'failed' : 'passed';
}

/** Lists the results of the conversations together with the expected ones. */
function compareResults(report: Report, conversations: readonly Conversation[]) {
  const found = new Map(report.cases.map((testCase) => [testCase.id, testCase]));
  const list = conversations.map(({ id, expected }) => {
    const testCase = found.get(id);
    const reasons = testCase?.failures.flatMap((failure) => failure.reasons).join('\n') ?? '';
    const fits = expected.result === 'passed' || expected.reason.test(reasons);
    const result = testCase === undefined ? 'missing' : readResult(testCase);
    return { id, expected: expected.result, result: fits ? result : `${result} because of ${reasons}` };
  });
  const pick = (key: 'expected' | 'result') => Object.fromEntries(list.map((entry) => [entry.id, entry[key]]));
  return { found: pick('result'), expected: pick('expected') };
}

async function runConversations(
  workspace: Workspace,
  conversations: readonly Conversation[],
  { format, inputs }: { format: ProviderFormat; inputs: Record<string, string> },
) {
  const { prefix, model } = independentModels[format];
  await using mock = await openIndependentProvider(conversations);
  await workspace.write('a.evals.yaml', writeConversations(conversations, { suite: 'Conversations', model }));
  const environment = { [`${prefix}_API_KEY`]: 'sk-canary-independent', [`${prefix}_BASE_URL`]: mock.provider.url };
  const result = await runEmbeddedGate(
    workspace,
    { isolation: 'run', 'report-dir': 'report', recordings: 'live', ...inputs },
    { environment, clock: quickClock },
  );
  const bodies = mock.provider.getRequests().map(({ body }) => JSON.stringify(body));
  return { ...result, bodies, ...compareResults(result.report, conversations) };
}

describe.each(formats)('conversations with an independent provider in the %s format', (format) => {
  it('with server-everything end as they must', async () => {
    await using workspace = await createWorkspace();
    const inputs = { 'server-command': everythingOverStdio };
    const { found, expected, bodies } = await runConversations(workspace, everythingConversations, { format, inputs });
    expect(found).toEqual(expected);
    // The conversation does not include the author's own calls.
    expect(bodies.filter((body) => body.includes('from the author'))).toEqual([]);
  });

  it('with server-filesystem end as they must, and write only what they may', async () => {
    await using workspace = await createWorkspace({ 'files/note.txt': 'buy milk' });
    const conversations = converseAboutFiles(`${workspace.path}/files`);
    const inputs = { 'server-command': `${process.execPath} ${filesystemServerPath} files` };
    const { found, expected } = await runConversations(workspace, conversations, { format, inputs });
    expect(found).toEqual(expected);
    expect(await workspace.read('files/note.txt')).toBe('buy milk');
    expect(await workspace.read('files/again.txt')).toBe('buy milk');
  });

  it('with server-memory end as they must', async () => {
    await using workspace = await createWorkspace();
    const inputs = {
      'server-command': `${process.execPath} ${memoryServerPath}`,
      'server-env': `MEMORY_FILE_PATH=${workspace.path}/memory.json`,
    };
    const { found, expected } = await runConversations(workspace, memoryConversations, { format, inputs });
    expect(found).toEqual(expected);
    expect(await workspace.read('memory.json')).toContain('likes tea');
  });
});
