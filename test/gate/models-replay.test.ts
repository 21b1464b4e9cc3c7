import { describe, expect, it } from 'vitest';
import { renderSummary } from '../../src/report/summary.ts';
import { runEmbeddedGate } from '../support/gate/embedded-gate.ts';
import {
  openScriptedProvider,
  type ProviderRequest,
  type ScriptedProvider,
  type ScriptedReply,
} from '../support/models/scripted-provider.ts';
import { runCommand } from '../support/process/command.ts';
import { startSumsServer } from '../support/servers/sums-server.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';

const evals = `suite: Sums
id: sums
model: anthropic/claude-test
system: You add numbers.
cases:
  - id: adds
    title: Adds with the tool
    runs: 2
    steps:
      - prompt: What is 2 + 3? Use the tools.
      - assert: { toolCalledWith: get-sum, arguments: { a: 2, b: 3 } }
      - assert: { responseContains: "5" }
      - prompt: Say it again.
      - assert: { responseContains: "5" }
  - id: refuses
    title: Does not refuse
    steps:
      - toolCall: echo
        arguments: { message: hello }
      - prompt: What is 2 + 3? Do not use the tools.
      - assert: { toolCalledAtLeastOnce: get-sum }
`;

/** Calls the tool in the first turn unless the prompt forbids it, and repeats its answer. */
function answer({ turn, userText }: ProviderRequest): ScriptedReply {
  if (turn > 1 || userText.includes('Do not')) return { text: 'The sum is 5.', usage: { input: 150, output: 8 } };
  return { toolCalls: [{ name: 'get-sum', arguments: { a: 2, b: 3 } }], usage: { input: 100, output: 10 } };
}

async function run(workspace: Workspace, provider: ScriptedProvider, inputs: Record<string, string>) {
  await using server = await startSumsServer();
  return await runEmbeddedGate(
    workspace,
    { 'server-url': server.url, 'report-formats': 'ctrf,iterations', ...inputs },
    { environment: { ANTHROPIC_API_KEY: 'sk-canary-replay', ANTHROPIC_BASE_URL: provider.baseUrl } },
  );
}

/** Removes times, durations and random ids. */
function removeTimes(text: string): string {
  return text
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    .replaceAll(/\b\d{13}\b/g, '<time>')
    .replaceAll(/"(\w*[dD]uration\w*)": ?(?:[\d.]+|\[[\d\s.,]*\])/g, '"$1":<duration>')
    .replaceAll(/\btime="[\d.]+"/g, 'time="<duration>"')
    .replaceAll(/\b\d+(?:\.\d+)? m?s\b/g, '<duration>')
    .replaceAll(/\b(run|iter|case|c|ste|srv)_[\da-f]{24}\b/g, '$1_<id>');
}

describe('a replay', () => {
  it('is the same twice, byte by byte except for times, and calls no provider', async () => {
    await using workspace = await createWorkspace({ 'a.evals.yaml': evals });
    await using provider = await openScriptedProvider({ format: 'anthropic', answers: answer });
    const recorded = await run(workspace, provider, { recordings: 'record', 'report-dir': 'recorded' });
    expect(recorded.report.totals).toMatchObject({ passed: 2, failed: 1 });
    const made = provider.requests.length;
    expect(made).toBe(7);

    const replays: Array<Record<string, string>> = [];
    for (const dir of ['one', 'two']) {
      const { report } = await run(workspace, provider, { recordings: 'replay', 'report-dir': dir });
      expect(report.totals).toEqual(recorded.report.totals);
      const files: Record<string, string> = { summary: removeTimes(renderSummary(report)) };
      for (const file of ['report.json', 'junit.xml', 'ctrf.json', 'iterations.jsonl']) {
        files[file] = removeTimes(await workspace.read(`${dir}/${file}`));
      }
      replays.push(files);
    }
    expect(provider.requests).toHaveLength(made);
    const [one, two] = replays;
    expect(two).toEqual(one);
    expect(Object.values(one ?? {}).join()).toContain('get-sum was never called');
  });

  it('that is stale calls no provider either, although there is a key', async () => {
    await using workspace = await createWorkspace({ 'a.evals.yaml': evals });
    await using provider = await openScriptedProvider({ format: 'anthropic', answers: answer });
    await run(workspace, provider, { recordings: 'record' });
    const made = provider.requests.length;
    await workspace.write('a.evals.yaml', evals.replace('Say it again.', 'Say it once more.'));
    const { report } = await run(workspace, provider, { recordings: 'replay' });
    expect(report.verdict.outcome).toBe('failed');
    expect(report.totals).toMatchObject({ passed: 0, failed: 1 });
    expect(provider.requests).toHaveLength(made);
  });
});

describe('`record`', () => {
  it('loses at most the iteration that ran when it is killed', async () => {
    await using workspace = await createWorkspace({ 'a.evals.yaml': evals.replace('runs: 2', 'runs: 4') });
    await using server = await startSumsServer();
    const kill = new AbortController();
    const isThird = ({ turn, number }: ProviderRequest) => turn === 1 && number > 6;
    await using provider = await openScriptedProvider({
      format: 'anthropic',
      answers: (request) => (isThird(request) ? { fault: 'hang' } : answer(request)),
    });
    const file = 'recordings/sums/adds.anthropic-claude-test.jsonl';
    const inputs = ['--server-url', server.url, '--cases', 'adds', '--concurrency', '1'];
    const recording = runCommand(['record', '--sandbox', 'off', ...inputs, 'a.evals.yaml'], {
      cwd: workspace.path,
      env: { ANTHROPIC_API_KEY: 'sk-canary-replay', ANTHROPIC_BASE_URL: provider.baseUrl },
      stop: kill.signal,
    });
    await expect.poll(async () => await workspace.read(file).catch(() => '')).toContain('"iteration":2');
    await expect.poll(() => provider.requests.length).toBe(7);
    kill.abort('SIGKILL');
    expect(await recording).toMatchObject({ exitCode: null });

    const replay = async (runs: number) => {
      await workspace.write('a.evals.yaml', evals.replace('runs: 2', `runs: ${runs}`));
      return await run(workspace, provider, { recordings: 'replay', cases: 'adds', 'server-url': server.url });
    };
    expect((await replay(2)).report.totals).toMatchObject({ passed: 2, failed: 0 });
    expect((await replay(3)).report.cases).toMatchObject([{ passed: 2, total: 2, planned: 3 }]);
    expect(provider.requests).toHaveLength(7);
  });
});
