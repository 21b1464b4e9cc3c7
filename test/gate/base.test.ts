import { describe, expect, it } from 'vitest';
import { planAnnotations } from '../../src/report/annotations.ts';
import { renderComment } from '../../src/report/comment.ts';
import { parseReport, renderReportJson } from '../../src/report/report-json.ts';
import { renderSummary } from '../../src/report/summary.ts';
import { rejudgeReport } from '../../src/gate/judge/rejudge.ts';
import { listContradictions } from '../../src/gate/plan/check-report.ts';
import { type EmbeddedGate, runEmbeddedGate } from '../support/gate/embedded-gate.ts';
import { mergeShards } from '../support/gate/merged-gate.ts';
import { countDraws } from '../support/property-runs.ts';
import { type Behaviour, startFlakyServer, writeCallingCases } from '../support/servers/flaky-server.ts';
import { createWorkspace } from '../support/workspace.ts';

type Scripts = Readonly<Record<string, readonly Behaviour[]>>;

const names = ['echo', 'greet'];
const allPass: Scripts = Object.fromEntries(names.map((name) => [name, ['passes']]));

/** The number of comparisons is 20 in `npm run test:soak`. */
const comparisons = countDraws(20);

/** The largest seed that the option accepts. */
const seed = 2 ** 32 - 1;

/** Runs a gate with one server as the change and another one as the base, both in this process. */
async function compare(
  { base, head }: { base: Scripts; head: Scripts },
  inputs: Record<string, string> = {},
  { runs = 1 } = {},
): Promise<EmbeddedGate & { baseCalls: Record<string, number>; headCalls: Record<string, number> }> {
  await using workspace = await createWorkspace({ 'x.evals.yaml': writeCallingCases(names, { runs }) });
  await using before = await startFlakyServer(base);
  await using after = await startFlakyServer(head);
  const result = await runEmbeddedGate(workspace, {
    'server-command': '',
    'server-url': after.url,
    base: `url=${before.url}\nseed=${seed}`,
    'min-pass-rate': '50%',
    ...inputs,
  });
  return { ...result, baseCalls: before.countCalls(), headCalls: after.countCalls() };
}

const inAll = ({ report }: EmbeddedGate) => ({
  summary: renderSummary(report),
  comment: renderComment(report),
  annotations: planAnnotations(report)
    .map(({ title, message }) => `${title} ${message}`)
    .join('\n'),
});

/** One gate with a change that breaks a tool, shared by every test that reads its report. */
let brokenGate: ReturnType<typeof compare> | null = null;
const runBroken = () => (brokenGate ??= compare({ base: allPass, head: { ...allPass, greet: ['fails'] } }));

// Several gates in one test take long on a busy machine.
describe('a base that runs in the same job', () => {
  it('fails a change that breaks a tool, and names the case in summary, comment and annotations', async () => {
    const result = await runBroken();
    expect(result.exitCode).toBe(1);
    const { baseComparison } = result.report;
    expect(baseComparison?.cases.filter(({ isWorse }) => isWorse).map(({ id }) => id)).toEqual(['greet']);
    const texts = inAll(result);
    expect(texts.summary).toContain('Worse than the base (`a running server`): 1 of 2 cases.');
    expect(texts.summary).toMatch(/^\| ❌ worse \| `Calls greet` \| 9 of 9 \| 0 of 9 \|$/m);
    expect(texts.comment).toContain('Worse than the base (`a running server`): 1 of 2 cases (`Calls greet`).');
    expect(texts.annotations).toContain('"Calls greet" is worse than the base');
    expect(texts.annotations).toContain('Calls greet: ');
  });

  it('passes each comparison of a server with itself, of which some tools are flaky', async () => {
    const flaky: Scripts = { ...allPass, greet: ['passes', 'fails', 'passes', 'passes', 'fails', 'passes'] };
    const exitCodes: number[] = [];
    for (let index = 0; index < comparisons; index += 1) {
      await using workspace = await createWorkspace({ 'x.evals.yaml': writeCallingCases(names) });
      await using server = await startFlakyServer(flaky);
      const inputs = { 'server-command': '', 'server-url': server.url, 'min-pass-rate': '50%' };
      const { exitCode } = await runEmbeddedGate(workspace, { ...inputs, base: `url=${server.url}\nseed=${index}` });
      exitCodes.push(exitCode);
    }
    expect(exitCodes).toEqual(Array.from({ length: comparisons }, () => 0));
  });

  it('runs no further round where both sides pass', async () => {
    const { report, baseCalls, headCalls } = await compare({ base: allPass, head: allPass }, {}, { runs: 3 });
    expect(baseCalls).toEqual(headCalls);
    expect(Object.values(baseCalls)).toEqual(names.map(() => 3));
    expect(report.baseComparison).toMatchObject({ isWorse: false, problem: null, seed, cases: { length: 2 } });
    expect(report.results[0]?.base?.cases).toContainEqual({
      id: 'echo',
      base: 'ppp',
      head: 'ppp',
      cached: 0,
      confirming: 0,
    });
  });

  it('counts iterations that run for the comparison alone for no rate', async () => {
    const { report, headCalls } = await runBroken();
    expect(headCalls['greet']).toBeGreaterThan(1);
    expect(report.totals).toMatchObject({ iterations: 2, passed: 1, failed: 1 });
  });

  it('says nothing of a case that fails on both sides', async () => {
    const broken: Scripts = { ...allPass, greet: ['fails'] };
    const result = await compare({ base: broken, head: broken });
    expect(result.exitCode).toBe(0);
    expect(inAll(result).summary).toContain(
      'Not shown to be worse than the base (`a running server`) in any of 2 cases.',
    );
  });

  it('leaves the comparison out when the base cannot be reached', async () => {
    const unreachable = { base: 'url=http://127.0.0.1:9/mcp', 'server-ready-timeout': '2s' };
    const result = await compare({ base: allPass, head: allPass }, unreachable);
    expect(result.exitCode).toBe(3);
    expect(result.report.verdict.reasons).toMatchObject([{ code: 'base-not-compared' }]);
    expect(result.report.baseComparison?.problem).toContain('The base could not be started');
    const texts = inAll(result);
    expect(texts.summary).toContain('Not compared with the base');
    expect(texts.comment).toContain('Not compared with the base');
    expect(result.warnings.join('\n')).toContain('The comparison with the base is left out');
  });

  it('leaves the comparison out when the base is lost in the middle, and fails the change for its own results alone', async () => {
    const lost: Scripts = { ...allPass, echo: ['breaks'] };
    const { exitCode, report } = await compare({ base: lost, head: { ...allPass, greet: ['fails'] } });
    expect(report.totals).toMatchObject({ iterations: 2, failed: 1 });
    expect(report.baseComparison?.cases.map(({ id }) => id)).not.toContain('echo');
    expect(exitCode).toBe(1);
  });

  it('is judged again from the report alone, by another maximum', async () => {
    const { report: written, exitCode } = await runBroken();
    const report = parseReport(JSON.parse(renderReportJson(written)));
    const rules = { minimumPassRate: null, baseline: null, policy: null };
    const again = rejudgeReport(report, rules);
    expect([exitCode, again.exit.exitCode]).toEqual([1, 1]);
    const lenient = { ...report, policy: { ...report.policy, maximumRegressions: { value: 1, source: 'x' } } };
    const { exit, report: judged } = rejudgeReport(lenient, rules);
    expect(exit.exitCode).toBe(0);
    expect(judged.baseComparison?.cases.filter(({ isWorse }) => isWorse)).toHaveLength(1);
  });

  it.each([
    ['broken', 'fails', 1, 'Worse than the base (`a running server`): 1 of 4 cases.'],
    ['whole', 'passes', 0, 'Not shown to be worse than the base (`a running server`) in any of 4 cases.'],
  ] as const)('is joined from shards, of which one has a tool that is %s', async (_, behaviour, exitCode, sentence) => {
    const four: Scripts = { ...allPass, sum: ['passes'], find: ['passes'] };
    await using workspace = await createWorkspace({ 'x.evals.yaml': writeCallingCases(Object.keys(four)) });
    await using before = await startFlakyServer(four);
    await using after = await startFlakyServer({ ...four, greet: [behaviour] });
    const seeds = new Set<number | undefined>();
    for (const index of [1, 2]) {
      const { report } = await runEmbeddedGate(workspace, {
        'server-command': '',
        'server-url': after.url,
        base: `url=${before.url}`,
        'min-pass-rate': '0%',
        shard: `${index}/2`,
        'report-dir': `shards/${index}`,
      });
      seeds.add(report.baseComparison?.seed);
    }
    expect(seeds.size).toBe(1);
    const merged = await mergeShards(workspace);
    expect(renderSummary(merged.report)).toContain(sentence);
    expect(merged.exitCode).toBe(exitCode);
  });

  it('is refused in a report where it does not follow from the results', async () => {
    const { report } = await runBroken();
    expect(listContradictions(parseReport(JSON.parse(renderReportJson(report))))).toEqual([]);
    const cases = report.baseComparison?.cases.map((item) => ({ ...item, isWorse: false })) ?? [];
    const edited = { ...report, baseComparison: report.baseComparison && { ...report.baseComparison, cases } };
    expect(listContradictions(edited)).toEqual([
      'baseComparison.cases[0].isWorse is stated as false, and the results say true',
    ]);
  });

  it('decides nothing next to a stored baseline', async () => {
    const { report } = await runBroken();
    const baseline = { source: 'x', startedAt: report.startedAt, commit: null, branch: null, cases: [] };
    const { exit, report: judged } = rejudgeReport(
      { ...report, policy: { ...report.policy, baseline } },
      { minimumPassRate: null, baseline: null, policy: null },
    );
    expect(exit.exitCode).toBe(0);
    expect(judged.baseComparison?.isDecisive).toBe(false);
  });
});
