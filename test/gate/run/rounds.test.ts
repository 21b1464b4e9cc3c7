import { describe, expect, it } from 'vitest';
import { readResults } from '../../../src/model/results.ts';
import { renderComment } from '../../../src/report/comment.ts';
import { renderSummary } from '../../../src/report/summary.ts';
import { readSuite } from '../../../src/suite/read.ts';
import { judgeGate } from '../../../src/verdict/judge-gate.ts';
import { runEmbeddedGate } from '../../support/gate/embedded-gate.ts';
import type { GateInputs } from '../../support/gate/gate-inputs.ts';
import { openScriptedProvider } from '../../support/models/scripted-provider.ts';
import { moodyServer } from '../../support/servers/moody-server.ts';
import { type Behaviour, startFlakyServer, writeCallingCases } from '../../support/servers/flaky-server.ts';
import { createWorkspace } from '../../support/workspace.ts';

type Scripts = Readonly<Record<string, readonly Behaviour[]>>;

/** Runs a gate with one case for each tool of a server that answers by its scripts. */
async function runGate(
  scripts: Scripts,
  { head = '', evals }: { head?: string; evals?: string },
  inputs: GateInputs = {},
  signal = new AbortController().signal,
) {
  await using server = await startFlakyServer(scripts);
  const written = evals ?? writeCallingCases(Object.keys(scripts), { head, runs: null });
  await using workspace = await createWorkspace({ 'a.evals.yaml': written });
  const url = { 'server-command': '', 'server-url': server.url };
  const result = await runEmbeddedGate(workspace, { ...url, ...inputs }, { signal });
  return { ...result, calls: server.countCalls() };
}

const names = ['a', 'b', 'c', 'd', 'e'];
const behaveAll = (...script: Behaviour[]): Scripts => Object.fromEntries(names.map((name) => [name, script]));
const writeHead = (minimum: string, runs = '{ min: 2, max: 8 }', rules = '') =>
  `runs: ${runs}\npolicy: { minimumPassRate: ${minimum}, confidence: 95%${rules} }\n`;

describe('a gate with a range of runs', () => {
  it('passes as soon as a round decides the minimum', async () => {
    const { report, exitCode, calls } = await runGate(behaveAll('passes'), { head: writeHead('50%') });
    expect(exitCode).toBe(0);
    const [suite] = report.suites;
    expect(suite?.requirements[0]).toMatchObject({ state: 'met' });
    expect(suite?.rounds).toMatchObject({ min: 2, max: 8, ran: 7, iterations: 35 });
    expect(suite?.rounds?.requirements[0]).toMatchObject({ scope: 'suite', state: 'passed', decidedAfter: 7 });
    expect(calls).toEqual({ a: 7, b: 7, c: 7, d: 7, e: 7 });
    expect(report.results[0]?.rounds?.processes).toBe('several-rounds');
    expect(suite?.requirements[0]?.finding).toContain('that rounds share no state is an assumption');
  });

  it('fails as soon as a round decides the minimum', async () => {
    const { report, exitCode, calls } = await runGate(behaveAll('passes', 'fails'), { head: writeHead('80%') });
    expect(exitCode).toBe(1);
    const own = report.suites[0]?.rounds?.requirements[0];
    expect(own).toMatchObject({ state: 'failed' });
    expect(own?.decidedAfter).toBe(calls['a']);
    expect(own?.path.map(({ passed, failed }) => passed + failed)).toEqual(own?.path.map(({ round }) => round * 5));
    expect(report.cases[0]?.failures.map(({ iterationNumber }) => iterationNumber)).toContain(2);
  });

  it('is inconclusive at the largest number of runs, with the iterations that would probably settle it', async () => {
    const script: Behaviour[] = ['passes', 'fails', 'passes', 'fails'];
    const { report, exitCode, calls } = await runGate(behaveAll(...script), {
      head: writeHead('50%', '{ min: 1, max: 4 }'),
    });
    expect(exitCode).toBe(3);
    expect(report.verdict).toMatchObject({ outcome: 'inconclusive', reasons: [{ code: 'minimum-unsettled' }] });
    expect(report.verdict.reasons[0]?.message).toContain('open after 4 of at most 4 rounds');
    expect(calls).toEqual({ a: 4, b: 4, c: 4, d: 4, e: 4 });
    const lenient = await runGate(behaveAll(...script), {
      head: writeHead('50%', '{ min: 1, max: 2 }', ', onInconclusive: warn'),
    });
    expect([lenient.exitCode, lenient.report.verdict.outcome]).toEqual([0, 'inconclusive']);
  });

  it('releases the cases of what is decided, and runs deterministic ones once', async () => {
    const evals = `suite: Parts
runs: { min: 1, max: 12 }
policy: { minimumPassRate: 50%, confidence: 95%, tags: { slow: 60% } }
cases:
${['a', 'b', 'c', 'd'].map((name) => `  - { title: ${name}, tags: [${name === 'a' ? 'slow' : 'quick'}], steps: [{ toolCall: ${name} }, { assert: noToolErrors }] }`).join('\n')}
  - { title: e, deterministic: true, runs: 7, steps: [{ toolCall: e }, { assert: noToolErrors }] }
`;
    const { report, exitCode, calls } = await runGate(behaveAll('passes'), { evals });
    expect(exitCode).toBe(0);
    const [own, tag] = report.suites[0]?.rounds?.requirements ?? [];
    expect([own?.state, tag?.state]).toEqual(['passed', 'passed']);
    expect(tag?.decidedAfter).toBeGreaterThan(own?.decidedAfter ?? Infinity);
    expect(calls).toEqual({
      a: tag?.decidedAfter,
      b: own?.decidedAfter,
      c: own?.decidedAfter,
      d: own?.decidedAfter,
      e: 1,
    });
    expect(report.cases.find(({ id }) => id === 'e')).toMatchObject({ planned: 1, passed: 1 });
  });

  it('runs an iteration without a result again in its round, within the budget', async () => {
    const scripts = { ...behaveAll('passes'), c: ['passes', 'breaks', 'passes'] as const };
    const within = await runGate(scripts, {
      head: writeHead('15%', '{ min: 3, max: 8 }', ', budgets: { infrastructureErrors: 1 }'),
    });
    expect(within.exitCode).toBe(0);
    expect(within.calls).toEqual({ a: 3, b: 3, c: 4, d: 3, e: 3 });
    expect(within.report.results[0]?.cases.map(({ byRound }) => byRound)).toEqual(names.map(() => 'ppp'));
    const without = await runGate(scripts, { head: writeHead('15%', '{ min: 3, max: 8 }') });
    expect(without.exitCode).toBe(3);
    expect(without.report.verdict.reasons[0]?.code).toBe('results-unknown');
    expect(without.calls['c']).toBe(3);
  });

  it('reports what it knows when it is cancelled between rounds', async () => {
    const cancelling = new AbortController();
    const script: Behaviour[] = ['passes', 'fails', 'passes', 'fails'];
    await using server = await startFlakyServer(behaveAll(...script));
    const evals = writeCallingCases(names, { head: writeHead('50%', '{ min: 2, max: 9 }'), runs: null });
    await using workspace = await createWorkspace({ 'a.evals.yaml': evals });
    const { report, exitCode } = await runEmbeddedGate(
      workspace,
      { 'server-command': '', 'server-url': server.url },
      {
        signal: cancelling.signal,
        onInfo: (message) => void (message.includes('not decided after 2') && cancelling.abort()),
      },
    );
    expect(exitCode).toBe(130);
    expect(report.verdict).toMatchObject({ outcome: 'inconclusive', reasons: [{ code: 'cancelled' }] });
    expect(report.cases.map(({ passed, failed }) => passed + failed)).toEqual([2, 2, 2, 2, 2]);
    expect(report.suites[0]?.rounds?.requirements[0]).toMatchObject({ state: 'open', rounds: 2 });
    expect(server.countCalls()).toEqual({ a: 2, b: 2, c: 2, d: 2, e: 2 });
  });

  it('gives the same verdict when its report is judged again, and another one by another policy', async () => {
    const { report } = await runGate(behaveAll('passes'), { head: writeHead('50%') });
    const results = readResults(report);
    const again = judgeGate(results, report.policy);
    expect(again.verdict).toEqual(report.verdict);
    expect(again.suites[0]?.rounds).toEqual(report.suites[0]?.rounds);
    const stricter = report.policy.suites.map((suite) => ({
      ...suite,
      minimumPassRate: { ...suite.minimumPassRate, value: 0.95 },
    }));
    expect(judgeGate(results, { ...report.policy, suites: stricter }).verdict.outcome).toBe('inconclusive');
  });

  it('runs its smallest number over tasks, of which repetition alone decides nothing', async () => {
    const head = writeHead('90%', '{ min: 2, max: 8 }', ', confidenceOver: tasks');
    const { report, exitCode, calls } = await runGate(behaveAll('passes'), { head });
    expect([exitCode, calls['a']]).toEqual([3, 2]);
    expect(report.verdict.reasons[0]?.message).toContain('about 31 further cases with one iteration each');
    expect(report.suites[0]?.rounds).toBeUndefined();
  });

  it('establishes nothing over tasks with one case, however often it passes', async () => {
    const runOne = async (over: string) => {
      await using workspace = await createWorkspace({
        'a.evals.yaml': `suite: a\nruns: 60\npolicy: { minimumPassRate: 80%, confidence: 95%${over} }\ncases:\n  - title: Calls a\n    steps: [{ toolCall: a }]\n`,
      });
      await using server = await startFlakyServer({ a: ['passes'] });
      return await runEmbeddedGate(workspace, { 'server-command': '', 'server-url': server.url, 'min-pass-rate': '' });
    };
    const { exitCode, report } = await runOne(', confidenceOver: tasks');
    expect(exitCode).toBe(3);
    expect(report.verdict.reasons[0]?.message).toContain('says nothing about tasks');
    expect((await runOne('')).exitCode).toBe(0);
  });

  it('takes the range of the option before that of the file', async () => {
    const { report } = await runGate(behaveAll('passes'), { head: writeHead('15%') }, { runs: '3..5' });
    expect(report.suites[0]?.rounds).toMatchObject({ min: 3, max: 5, ran: 3 });
  });

  it('says in a sentence how it was decided', async () => {
    const { report } = await runGate(behaveAll('passes'), { head: writeHead('50%') });
    const sentence = /Decided after 7 of at most 8 rounds: 35 iterations\./;
    expect(renderSummary(report)).toMatch(sentence);
    expect(renderComment(report)).toMatch(sentence);
    const fixed = await runGate(behaveAll('passes'), { head: '' });
    expect(renderSummary(fixed.report)).not.toContain('round');
  });

  it.each([
    ['policy: { minimumPassRate: 60% }', {}, /A range of `runs` ends when a `confidence` decides the minimum/],
    [
      'policy: { minimumPassRate: 60%, confidence: 95%, retryFailed: 1 }',
      {},
      /repeats cases already; leave out `retryFailed`/,
    ],
    [
      'policy: { minimumPassRate: 60%, confidence: 95% }',
      { shard: '1/2' },
      /judges a part, and the whole may need more/,
    ],
  ])('is refused with %s and %j', async (policy, inputs, message) => {
    const head = `runs: { min: 2, max: 8 }\n${policy}\n`;
    await expect(runGate(behaveAll('passes'), { head }, inputs)).rejects.toThrow(message);
  });

  it.each(['{ min: 8, max: 2 }', '{ min: 0, max: 4 }', '{ min: 2 }', '{ min: 2, max: 101 }'])(
    'refuses the range %s',
    (runs) => {
      expect(
        readSuite(`suite: a\nruns: ${runs}\ncases: [{ title: b, steps: [{ toolCall: c }] }]\n`, { file: 'a.yaml' })
          .findings,
      ).toHaveLength(1);
    },
  );
});

describe('a gate with a range of runs and recorded answers', () => {
  it('numbers the recordings over all rounds, and takes no replayed answer for evidence', async () => {
    const evals = `suite: Sums
model: anthropic/claude-test
runs: { min: 2, max: 12 }
policy: { minimumPassRate: 50%, confidence: 95% }
cases:
  - { title: Adds, id: adds, steps: [{ prompt: Add. }, { assert: { responseContains: sum } }] }
`;
    await using workspace = await createWorkspace({ 'a.evals.yaml': evals });
    await using server = await startFlakyServer({ unused: ['passes'] });
    await using provider = await openScriptedProvider({ format: 'anthropic', answers: () => ({ text: 'A sum.' }) });
    const environment = { ANTHROPIC_API_KEY: 'sk-canary-rounds', ANTHROPIC_BASE_URL: provider.baseUrl };
    const run = async (inputs: GateInputs) =>
      await runEmbeddedGate(workspace, { 'server-command': '', 'server-url': server.url, ...inputs }, { environment });

    const recorded = await run({ recordings: 'record' });
    const rounds = recorded.report.suites[0]?.rounds?.requirements[0]?.decidedAfter ?? 0;
    expect([recorded.exitCode, recorded.report.results[0]?.cases[0]?.byRound]).toEqual([0, 'p'.repeat(rounds)]);
    expect(rounds).toBeGreaterThan(2);
    expect(provider.requests).toHaveLength(rounds);

    const all = await run({ recordings: 'replay', runs: String(rounds), 'min-pass-rate': '50%' });
    expect(all.report.cases[0]).toMatchObject({ passed: rounds, replayed: { passed: rounds, total: rounds } });
    const replayed = await run({ recordings: 'replay' });
    expect(replayed.report.suites[0]?.rounds).toMatchObject({ ran: 2, requirements: [{ state: 'counted' }] });
    expect(replayed.exitCode).toBe(0);
    expect(replayed.report.results[0]?.cases[0]?.byRound).toBe('PP');
    expect(provider.requests).toHaveLength(rounds);
  });
});

describe('a server that the gate starts', () => {
  const evals = `suite: x\n${writeHead('50%', '{ min: 1, max: 8 }')}cases:\n${names
    .map(
      (name) => `  - title: Asks ${name}\n    steps: [{ toolCall: ask }, { assert: { toolResultContains: good } }]\n`,
    )
    .join('')}`;
  const run = async (isolation: string, broken: string) => {
    await using workspace = await createWorkspace({ 'x.evals.yaml': evals, 'server.mjs': moodyServer });
    const command = `${process.execPath} server.mjs log ${broken}`;
    const result = await runEmbeddedGate(workspace, { 'server-command': command, isolation, 'min-pass-rate': '' });
    return { ...result, starts: (await workspace.read('log')).length, rounds: result.report.suites[0]?.rounds };
  };

  it('starts anew for every round, of which each is one observation, where its iterations share a process', async () => {
    const good = await run('run', '');
    expect(good.report.results[0]?.rounds?.processes).toBe('round');
    expect([good.exitCode, good.starts, good.rounds?.ran, good.rounds?.fixed]).toEqual([0, 7, 7, null]);
    // Every second start is broken for its whole life.
    const moody = await run('run', '2 4 6 8 10');
    expect([moody.exitCode, moody.starts, moody.rounds?.ran]).toEqual([3, 8, 8]);
    expect(moody.report.results[0]?.cases.map(({ byRound }) => byRound)).toEqual(names.map(() => 'pfpfpfpf'));
  });

  it('is judged by its iterations where each has a process, with what a fixed number takes', async () => {
    const { report, exitCode, rounds } = await run('iteration', '');
    expect(report.results[0]?.rounds?.processes).toBe('iteration');
    expect([exitCode, rounds?.ran]).toEqual([0, 2]);
    expect(renderSummary(report)).toMatch(
      /Decided after 2 of at most 8 rounds: 10 iterations; a fixed number with the same power takes \d+ \(\d+ saved\)\./,
    );
  });
});
