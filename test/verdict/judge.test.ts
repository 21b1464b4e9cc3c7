import { describe, expect, it } from 'vitest';
import type { SuiteResults } from '../../src/model/results.ts';
import type { Verdict } from '../../src/model/verdict.ts';
import { disagreesWithService } from '../../src/verdict/completeness.ts';
import { joinVerdicts, judgeSuite } from '../../src/verdict/judge.ts';
import { atLeast, createPolicy } from '../support/factories/policy-factory.ts';
import {
  createCaseResults,
  createFailure,
  createRun,
  createSuiteResults,
} from '../support/factories/results-factory.ts';

const judgeCounts = (passed: number, failed: number, minimumPassRate: number) =>
  judgeSuite(createSuiteResults({ cases: [createCaseResults({ passed, failed })] }), {
    policy: createPolicy(atLeast(minimumPassRate)),
  }).outcome;

describe('judgeSuite', () => {
  it('passes complete results that meet the minimum', () => {
    expect(judgeSuite(createSuiteResults(), { policy: createPolicy() })).toEqual({
      outcome: 'passed',
      reasons: [
        {
          code: 'minimum-met',
          message: '3 of 3 iterations passed (100%), the minimum is 90% (from evals/math.evals.yaml:4)',
          suiteId: 'math',
        },
      ],
    });
  });

  it.each([
    [9, 1, 0.9, 'passed'],
    [899, 101, 0.9, 'failed'],
    [2, 1, 0.67, 'failed'],
    [2, 1, 0.6666, 'passed'],
    [2, 1, 0.6667, 'failed'],
    [0, 5, 0, 'passed'],
    [99_999, 1, 1, 'failed'],
    [100_000, 0, 1, 'passed'],
  ])('judges %i passed and %i failed against %d: %s', (passed, failed, minimum, outcome) => {
    expect(judgeCounts(passed, failed, minimum)).toBe(outcome);
  });

  it('reports the gap to the minimum and the source of the minimum', () => {
    const results = createSuiteResults({ cases: [createCaseResults({ passed: 7, failed: 2 })] });
    expect(judgeSuite(results, { policy: createPolicy(atLeast(0.6667 + 0.2)) }).reasons[0]?.message).toBe(
      '7 of 9 iterations passed (77.7%), the minimum is 86.67% (from evals/math.evals.yaml:4)',
    );
    expect(judgeSuite(results, { policy: createPolicy(atLeast(0.9, 'default')) }).reasons[0]?.message).toBe(
      '7 of 9 iterations passed (77.7%), the minimum is 90% (the default)',
    );
  });

  it('fails for each required case that failed, whatever the rate', () => {
    const cases = [
      createCaseResults({ id: 'a', title: 'A', passed: 50 }),
      createCaseResults({ id: 'b', title: 'B', passed: 2, failed: 1, isRequired: true }),
      createCaseResults({ id: 'c', title: 'C', passed: 2, failed: 1 }),
    ];
    expect(judgeSuite(createSuiteResults({ cases }), { policy: createPolicy() })).toEqual({
      outcome: 'failed',
      reasons: [
        {
          code: 'required-failed',
          message: 'The required case "B" failed 1 of 3 iterations.',
          caseId: 'b',
          suiteId: 'math',
        },
      ],
    });
  });

  it('ignores failures while the tunnel was broken, and counts passes', () => {
    const cases = [createCaseResults({ passed: 2, failed: 1 })];
    expect(judgeSuite(createSuiteResults({ cases, tunnelBreaks: 2 }), { policy: createPolicy() })).toEqual({
      outcome: 'inconclusive',
      reasons: [
        {
          code: 'tunnel-lost',
          message:
            "The tunnel broke off 2 times during the run, and the calls under way with it, so what failed may not be the server's doing; run the job again.",
          suiteId: 'math',
        },
        expect.objectContaining({ code: 'below-minimum' }),
      ],
    });
    expect(judgeSuite(createSuiteResults({ cases }), { policy: createPolicy() }).outcome).toBe('failed');
    expect(
      judgeSuite(createSuiteResults({ cases, tunnelBreaks: 2 }), { policy: createPolicy(atLeast(0.5)) }).outcome,
    ).toBe('passed');
  });

  it('names the broken tunnel if a run ended without a verdict', () => {
    const run = createRun({ status: 'failed', notes: 'no answer in case "echo"' });
    const codes = (overrides: Partial<SuiteResults>) =>
      judgeSuite(createSuiteResults({ run, ...overrides }), { policy: createPolicy() }).reasons.map(({ code }) => code);
    expect(codes({ tunnelBreaks: 1 })).toEqual(['tunnel-lost', 'run-not-completed']);
    expect(codes({ tunnelBreaks: 0 })).toEqual(['run-not-completed']);
    const interruption = { code: 'server-lost', message: 'The server is gone.' } as const;
    expect(codes({ tunnelBreaks: 1, interruption })).toEqual(['server-lost', 'run-not-completed']);
    const cancelled = createRun({ status: 'cancelled' });
    expect(codes({ tunnelBreaks: 1, run: cancelled })).toEqual(['run-not-completed']);
  });

  it('is not inconclusive because the service passed an iteration that the gate overruled', () => {
    const cases = [createCaseResults({ passed: 2, failed: 1 })];
    const run = createRun({ summary: { total: 3, passed: 3, failed: 0 } });
    expect(judgeSuite(createSuiteResults({ cases, run, overruled: 1 }), { policy: createPolicy() }).outcome).toBe(
      'failed',
    );
    expect(
      judgeSuite(createSuiteResults({ cases, run, overruled: 1 }), { policy: createPolicy(atLeast(0.5)) }).outcome,
    ).toBe('passed');
    expect(judgeSuite(createSuiteResults({ cases, run }), { policy: createPolicy() }).outcome).toBe('inconclusive');
  });

  it('gives the reason for an iteration to which the gate itself gave no result', () => {
    const reason = 'toolResultContains could not be judged: no trace is stored.';
    const cases = [
      createCaseResults({ passed: 1 }),
      createCaseResults({
        passed: 1,
        unscored: 1,
        failures: [createFailure({ result: 'unscored', reasons: [reason] })],
      }),
    ];
    const run = createRun({ summary: { total: 3, passed: 3, failed: 0 } });
    expect(judgeSuite(createSuiteResults({ cases, run, overruled: 1 }), { policy: createPolicy() })).toEqual({
      outcome: 'inconclusive',
      reasons: [{ code: 'results-unknown', message: `1 iteration ended without a result. ${reason}`, suiteId: 'math' }],
    });
  });

  const lost = { code: 'server-lost', message: 'The server is gone.' } as const;
  const gaps: Array<[string, Partial<SuiteResults>, Array<[string, string]>]> = [
    ['an interruption', { interruption: lost }, [['server-lost', 'The server is gone.']]],
    ['no run', { run: null }, [['run-not-created', 'No run was created.']]],
    [
      'no run for a reason, which is all that is said',
      { run: null, interruption: lost },
      [['server-lost', 'The server is gone.']],
    ],
    [
      'an interruption that the service knows more about',
      { run: createRun({ status: 'failed', notes: 'In case "echo"' }), interruption: lost },
      [
        ['server-lost', 'The server is gone.'],
        ['run-not-completed', 'In case "echo". The run ended as failed, which carries no verdict.'],
      ],
    ],
    [
      'an interruption, whatever it left unread',
      { run: createRun({ status: 'cancelled', notes: null }), isComplete: false, interruption: lost },
      [['server-lost', 'The server is gone.']],
    ],
    ...['failed', 'cancelled', 'timed_out'].map((status): [string, Partial<SuiteResults>, Array<[string, string]>] => [
      `a run that ended as ${status}`,
      { run: createRun({ status, notes: 'Out of slots!' }) },
      [['run-not-completed', `Out of slots! The run ended as ${status}, which carries no verdict.`]],
    ]),
    [
      'a run with a note of several lines',
      { run: createRun({ status: 'failed', notes: 'The server exited\nlast line' }) },
      [['run-not-completed', 'The server exited. The run ended as failed, which carries no verdict.\nlast line']],
    ],
    [
      'a run in an unknown state',
      { run: createRun({ status: 'archived' }) },
      [['run-not-completed', 'The run was last seen as archived, which carries no verdict.']],
    ],
    [
      'unread pages',
      { isComplete: false },
      [['iterations-missing', 'Not every page of iterations could be read, only 3 iterations.']],
    ],
    [
      'a service that counts more',
      { run: createRun({ summary: { total: 4, passed: 3, failed: 0 } }) },
      [['results-inconsistent', 'The service counts 4 iterations, 3 could be read.']],
    ],
    [
      'a service that counts other passes than it reported, including those that the gate overruled',
      { overruled: 1, run: createRun({ summary: { total: 3, passed: 3, failed: 0 } }) },
      [['results-inconsistent', 'The service counts 3 passed, the iterations read say 4.']],
    ],
    [
      'a service that counts other passes',
      { run: createRun({ summary: { total: 3, passed: 2, failed: 1 } }) },
      [['results-inconsistent', 'The service counts 2 passed, the iterations read say 3.']],
    ],
    [
      'planned iterations that are missing',
      { cases: [createCaseResults({ planned: 5 })], iterationsRead: 3 },
      [['iterations-missing', 'Of 5 planned iterations, 3 could be read.']],
    ],
    [
      'iterations of one case too many and of another too few',
      {
        cases: [
          createCaseResults({ id: 'a', title: 'A', passed: 4, planned: 3 }),
          createCaseResults({ id: 'b', title: 'B', passed: 2, planned: 3 }),
        ],
      },
      [
        [
          'results-inconsistent',
          'The service returned other numbers of iterations than were planned for 2 cases: for "A", 4 instead of 3.',
        ],
      ],
    ],
    [
      'iterations without a result',
      { cases: [createCaseResults({ passed: 2, unscored: 1 })] },
      [['results-unknown', '1 iteration ended without a result.']],
    ],
    [
      'a service that contradicts itself',
      { contradicted: 1 },
      [
        [
          'results-inconsistent',
          'The service gave different results for the same iteration (1 iteration), so neither counts.',
        ],
      ],
    ],
    ['no iterations', { cases: [] }, [['no-iterations', 'No iteration was scored, so nothing was shown.']]],
  ];

  it.each(gaps)('is inconclusive for %s, even where every case passed', (_, overrides, reasons) => {
    expect(judgeSuite(createSuiteResults(overrides), { policy: createPolicy() })).toEqual({
      outcome: 'inconclusive',
      reasons: reasons.map(([code, message]) => ({ code, message, suiteId: 'math' })),
    });
  });

  it('is inconclusive where an iteration belongs to no case', () => {
    const results = createSuiteResults({ unknownIterations: 1 });
    expect(judgeSuite(results, { policy: createPolicy() }).reasons.map(({ message }) => message)).toEqual([
      'Of 3 planned iterations, 4 could be read.',
      '1 iteration could not be matched with a case of this suite.',
    ]);
  });
});

describe('joinVerdicts', () => {
  const verdict = (outcome: Verdict['outcome'], message: string): Verdict => ({
    outcome,
    reasons: [{ code: 'infrastructure', message }],
  });
  const judge = (...verdicts: Verdict[]) => {
    const { outcome, reasons } = joinVerdicts(verdicts);
    return [outcome, ...reasons.map(({ message }) => message)];
  };

  it('follows the worst suite, gives its reasons first and those of suites that passed only where all did', () => {
    const [passed, failed, unsure] = [verdict('passed', 'p'), verdict('failed', 'f'), verdict('inconclusive', 'i')];
    expect(judge(passed, passed)).toEqual(['passed', 'p', 'p']);
    expect(judge(passed, unsure)).toEqual(['inconclusive', 'i']);
    expect(judge(passed, unsure, failed)).toEqual(['failed', 'f', 'i']);
  });

  it('is inconclusive without a suite', () => {
    expect(judge()).toEqual(['inconclusive', 'No suite ran, so nothing was established.']);
  });
});

describe('disagreesWithService', () => {
  const complete = createSuiteResults();
  const countAs = (summary: { total: number; passed: number; failed: number }) => ({
    ...complete,
    run: createRun({ summary }),
  });

  it.each([
    ['as many', countAs({ total: 3, passed: 3, failed: 0 }), false],
    ['another total', countAs({ total: 4, passed: 3, failed: 1 }), true],
    ['fewer that passed', countAs({ total: 3, passed: 2, failed: 1 }), true],
    ['nothing', { ...complete, run: createRun({ summary: null }) }, false],
    ['anything of a run that was cancelled', { ...complete, run: createRun({ status: 'cancelled' }) }, false],
    ['anything where there is no run', { ...complete, run: null }, false],
  ])('when it counts %s', (_, results, expected) => {
    expect(disagreesWithService(results)).toBe(expected);
  });
});
