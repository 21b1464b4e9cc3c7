import { describe, expect, it } from 'vitest';
import { planGate } from '../../src/gate/plan/plan.ts';
import { describeRuns } from '../../src/gate/preview-runs.ts';
import type { HistoryRecord } from '../../src/model/history.ts';
import { hashDefinition } from '../../src/suite/definition-hash.ts';
import { readGateInputs } from '../support/gate/gate-inputs.ts';
import { createWorkspace } from '../support/workspace.ts';

const nowMs = Date.UTC(2026, 0, 2);

/** Describes the runs of a suite of four cases after gates in which `passed` of 10 iterations of each passed. */
async function describeSuite(head: string, passed: number | null): Promise<string[]> {
  const cases = ['a', 'b', 'c', 'd'].map(
    (id) => `  - { id: ${id}, title: ${id}, tags: [t${id}], steps: [{ toolCall: x }] }`,
  );
  const evals = `suite: Coins\n${head}cases:\n${cases.join('\n')}\n`;
  await using workspace = await createWorkspace({ 'a.evals.yaml': evals });
  const options = readGateInputs({ evals: 'a.evals.yaml', 'server-command': 'true' });
  const plan = await planGate(options, { cwd: workspace.path, environment: {}, nowMs });
  const records = passed === null ? [] : [createRecord(plan.suites, passed)];
  const history = { path: '', label: '', records };
  return plan.suites.flatMap((planned) => describeRuns(planned, { ...plan, history, nowMs }));
}

function createRecord(suites: Awaited<ReturnType<typeof planGate>>['suites'], passed: number): HistoryRecord {
  const cases = suites.flatMap((planned) =>
    planned.kind === 'stored'
      ? []
      : planned.suite.cases.map((item) => ({
          suiteId: planned.suite.id,
          id: item.id,
          passed,
          total: 10,
          replayed: 0,
          definitionHash: hashDefinition(item, planned.suite),
          durationMs: null,
          cost: 0.5,
        })),
  );
  return { startedAt: '2026-01-01T00:00:00Z', commit: null, branch: null, outcome: 'passed', cases };
}

const range = 'runs: { min: 1, max: 30 }\n';

describe('the plan of runs', () => {
  it('estimates rounds, iterations and cost from the history', async () => {
    const [head, own] = await describeSuite(`${range}policy: { minimumPassRate: 60%, confidence: 95% }\n`, 9);
    expect(head).toBe('Coins: 1 to 30 rounds of 4 cases, with 95% confidence (a.evals.yaml:3).');
    const [, rounds, iterations, cost] =
      /^ {2}the suite, at least 60%: at the recent pass rate of 90% about (\d+) rounds, (\d+) iterations, ([\d.]+) USD; passes after \d+ rounds without a failure, or after \d+ where its iterations share a process$/.exec(
        own ?? '',
      ) ?? [];
    expect(Number(iterations)).toBe(Number(rounds) * 4);
    expect(Number(cost)).toBeCloseTo(Number(iterations) * 0.05, 9);
  });

  it('says that the rate is too close to the minimum, and that there is no history', async () => {
    const head = `${range}policy: { minimumPassRate: 90%, confidence: 95% }\n`;
    expect((await describeSuite(head, 9))[1]).toContain(
      'so close to the minimum that no number of iterations settles it',
    );
    expect((await describeSuite(head, null))[1]).toContain(
      'no recent history of 4 cases, so that no estimate is possible',
    );
  });

  it('names what can never be decided as written, and nothing else', async () => {
    const head = 'runs: { min: 1, max: 12 }\npolicy: { minimumPassRate: 50%, confidence: 95%, tags: { ta: 99% } }\n';
    const [, own, tag] = await describeSuite(head, 10);
    expect(own).not.toContain('never');
    expect(tag).toMatch(/can never pass as written: 12 rounds without a failure do not show it, \d+ would$/);
  });

  it('says what rounds can show where their iterations share a process', async () => {
    const head = (max: number) => `runs: { min: 1, max: ${max} }\npolicy: { minimumPassRate: 90%, confidence: 95% }\n`;
    expect((await describeSuite(head(50), 10))[1]).toMatch(
      /passes after 13 rounds without a failure, or after 44 where its iterations share a process$/,
    );
    expect((await describeSuite(head(30), 10))[1]).toMatch(
      /passes after 13 rounds without a failure; where the iterations of a round share a process, it can never pass as written: 30 rounds without a failure do not show it, 44 would$/,
    );
  });

  it('says over tasks how many cases it takes', async () => {
    const lines = await describeSuite('runs: 3\npolicy: { minimumPassRate: 90%, confidence: 95% }\n', 10);
    expect(lines[1]).toBe(
      '  the suite, at least 90%: can never pass as written: 4 cases that always pass do not show it, 36 would',
    );
    expect((await describeSuite('runs: 3\npolicy: { minimumPassRate: 39%, confidence: 95% }\n', 10))[1]).toContain(
      '4 cases that pass can show it; repetition alone cannot decide',
    );
    expect(await describeSuite('runs: 3\n', 10)).toEqual([]);
  });
});
