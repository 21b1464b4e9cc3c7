import { expect, test } from 'vitest';
import type { BehaviourKind, MeasuredBehaviour } from '../../src/model/behaviour.ts';
import { applyBehaviourDefaults, countBehaviour } from '../../src/model/behaviour-policy.ts';
import { applyLimitDefaults, applyPricingDefaults, type GatePolicy, noGateRules } from '../../src/model/policy.ts';
import { buildReport } from '../../src/report/build.ts';
import { renderCtrf } from '../../src/report/ctrf.ts';
import { renderJunit } from '../../src/report/junit.ts';
import { readPolicyInput } from '../../src/suite/read-policy.ts';
import { judgeGate } from '../../src/verdict/judge-gate.ts';

const measure = (...kinds: BehaviourKind[]): MeasuredBehaviour => ({
  sandbox: 'confined',
  seed: 1,
  corpus: 'explored',
  isCutByTime: false,
  requests: { sent: 40, budget: 400 },
  sessions: { compared: 12, of: 12 },
  tools: { reached: 3, of: 3 },
  coverage: {
    tools: { reached: 3, of: 3 },
    parameters: { reached: 4, of: 5 },
    errorPaths: { reached: 2, of: 2 },
  },
  unexplored: [],
  uncompared: [],
  flaky: [],
  differences: kinds.map((kind) => ({
    id: `id-${kind}`,
    kind,
    tool: 'search',
    pointer: '/entities',
    message: 'The answer has another value.',
    before: '1',
    after: '2',
    session: [{ kind: 'tool', tool: 'search', arguments: {} }],
    case: '- title: search\n',
  })),
});

const alone: NonNullable<GatePolicy['withoutSuites']> = {
  onInconclusive: { value: 'fail', source: 'default' },
  onNothingRun: { value: 'fail', source: 'default' },
  reportOnly: { value: false, source: 'default' },
};

/** Judges a gate without suites by a policy file. */
function judge(
  measured: MeasuredBehaviour | null,
  { policy: written = {}, label = null }: { policy?: object; label?: string | null } = {},
) {
  const { policy } = readPolicyInput(written);
  const behaviour = applyBehaviourDefaults(policy?.gate.behaviour ?? null);
  const rules: GatePolicy = {
    today: '2026-01-01',
    suites: [],
    ...applyLimitDefaults(noGateRules),
    ...applyPricingDefaults(noGateRules),
    baseline: null,
    lowered: [],
    behaviour,
    withoutSuites: alone,
    ...(label !== null && { acceptingLabel: label }),
  };
  const base = { label: '1a2b3c4, the merge base with main', commit: null };
  const report =
    measured === null
      ? { base, problem: 'git does not have it.', compared: null, unusedAccepts: [] }
      : countBehaviour(base, measured, { behaviour, acceptingLabel: label });
  const { exit, ...judgement } = judgeGate([], rules, { behaviour: report });
  return { exit, judgement, rules };
}

test('fails a gate without evals for a broken call, and names its id', () => {
  const { exit, judgement } = judge(measure('broken', 'changed'));
  expect(judgement.verdict.outcome).toBe('failed');
  expect(judgement.verdict.reasons[0]).toMatchObject({
    code: 'behaviour-changed',
    message: expect.stringContaining('search (id-broken)'),
  });
  expect(exit.exitCode).toBe(1);
});

test('says that the time limit cut the exploration', () => {
  const whole = judge(measure());
  const cut = judge({ ...measure(), isCutByTime: true });
  expect(whole.judgement.verdict.reasons[0]?.message).not.toContain('the time limit');
  expect(cut.judgement.verdict.reasons[0]?.message).toContain('the time limit cut the exploration');
});

test('fails for an answer that lost the effect of an earlier call, unless the policy says otherwise', () => {
  const { judgement } = judge(measure('lost'));
  expect(judgement.verdict.outcome).toBe('failed');
  expect(judgement.verdict.reasons[0]?.message).toContain('1 answer lost the effect of an earlier call');
  const review = judge(measure('lost'), { policy: { behaviour: { lost: 'review' } } });
  expect(review.judgement.verdict.outcome).toBe('passed');
});

test('shows changed and slower answers, and calls that work now, without failing', () => {
  const { exit, judgement } = judge(measure('changed', 'slower', 'fixed'));
  expect(judgement.verdict).toMatchObject({ outcome: 'passed', reasons: [{ code: 'behaviour-kept' }] });
  expect(exit.exitCode).toBe(0);
  expect(exit.warnings).toEqual([
    expect.stringContaining('1 answer has changed'),
    expect.stringContaining('1 tool is slower'),
    expect.stringContaining('1 call that failed works'),
  ]);
  const ignoring = judge(measure('fixed'), { policy: { behaviour: { fixed: 'ignore' } } });
  expect(ignoring.exit.warnings).toEqual([]);
});

test('fails for a changed answer if the policy says so', () => {
  const { judgement } = judge(measure('changed'), { policy: { behaviour: { changed: 'fail' } } });
  expect(judgement.verdict.outcome).toBe('failed');
});

test('accepts a difference by its id, and names an accepted id that no longer occurs', () => {
  const { exit, judgement } = judge(measure('broken'), { policy: { behaviour: { accept: ['id-broken', 'id-old'] } } });
  expect(judgement.verdict.outcome).toBe('passed');
  expect(judgement.behaviour?.compared?.differences[0]?.disposition).toBe('accepted');
  expect(exit.warnings).toEqual([expect.stringContaining('no longer occurs: id-old')]);
});

test('accepts every difference by a label', () => {
  const { exit, judgement } = judge(measure('broken', 'changed'), { label: 'accept-behaviour' });
  expect(judgement.verdict.outcome).toBe('passed');
  expect(exit.warnings).toEqual([expect.stringContaining('The label accept-behaviour accepts 2 differences')]);
});

test('is inconclusive if the base cannot be compared with', () => {
  const { exit, judgement } = judge(null);
  expect(judgement.verdict).toMatchObject({ outcome: 'inconclusive', reasons: [{ code: 'behaviour-unread' }] });
  expect(exit.exitCode).toBe(3);
});

test('is inconclusive if no session could be repeated', () => {
  const { judgement } = judge({ ...measure(), sessions: { compared: 0, of: 4 } });
  expect(judgement.verdict.outcome).toBe('inconclusive');
});

test.each(['passed', 'failed'] as const)('writes a %s gate without evals as one test in JUnit and CTRF', (outcome) => {
  const { judgement, rules } = judge(outcome === 'passed' ? measure() : measure('broken'));
  const report = buildReport({
    startedAt: '2026-01-01T00:00:00Z',
    durationMs: 1000,
    generator: { name: 'mcp-eval-ci', version: '1.0.0' },
    server: null,
    policy: rules,
    ...judgement,
  });
  const failures = outcome === 'passed' ? 0 : 1;
  expect(renderJunit(report)).toContain(`tests="1" failures="${failures}" errors="0"`);
  expect(JSON.parse(renderCtrf(report))).toMatchObject({
    results: { summary: { tests: 1, passed: 1 - failures, failed: failures } },
  });
});
