import * as fc from 'fast-check';
import { maxFailuresPerCase, maxFailuresPerSuite } from '../../src/model/case-report.ts';
import type { OwnJudgement } from '../../src/model/results.ts';
import type { Iteration, StepResult } from '../../src/model/run.ts';
import { noModelUsage } from '../../src/model/usage.ts';
import { outlineSuite } from '../../src/suite/manifest.ts';
import { createTally, scoreIteration } from '../../src/verdict/tally.ts';
import { createRun } from '../support/factories/results-factory.ts';
import { createIteration, createSuite, createSuiteCase } from '../support/factories/suite-factory.ts';
import { describe, expect, it } from 'vitest';

const suite = createSuite([
  createSuiteCase({ id: 'adds', title: 'Adds two numbers', runs: 3 }),
  createSuiteCase({ id: 'same-1', title: 'Same title' }),
  createSuiteCase({ id: 'same-2', title: 'Same title' }),
]);
const end = { run: createRun(), runUrl: null, isComplete: true, tunnelBreaks: 0, interruption: null };

function startTally(outline = outlineSuite(suite, suite)) {
  return createTally(outline, {
    caseIds: new Map([
      ['svc_adds', 'adds'],
      ['svc_same_1', 'same-1'],
      ['svc_same_2', 'same-2'],
    ]),
  });
}

function tallyAll(iterations: readonly Iteration[], steps: readonly StepResult[] | null = null) {
  const tally = startTally();
  for (const iteration of iterations) {
    tally.addIteration(iteration);
    if (steps !== null) tally.explainFailure(iteration.id, steps);
  }
  return tally.finish(end);
}

const countsOf = (iterations: readonly Iteration[]) =>
  tallyAll(iterations).cases.map(({ id, passed, failed, unscored }) => [id, passed, failed, unscored]);

describe('createTally', () => {
  it('counts by the service’s case id, and by title where the title names one case', () => {
    expect(
      countsOf([
        createIteration({ id: '1' }),
        createIteration({ id: '2', testCaseId: null }),
        createIteration({ id: '3', testCaseId: 'svc_same_2', title: 'Same title', result: 'failed' }),
      ]),
    ).toEqual([
      ['adds', 2, 0, 0],
      ['same-1', 0, 0, 0],
      ['same-2', 0, 1, 0],
    ]);
  });

  it('adds up the tokens of every iteration once, whatever came of it', () => {
    const iterations = [
      createIteration({ tokensUsed: 100 }),
      createIteration({ tokensUsed: 100 }),
      createIteration({ id: 'it_2', tokensUsed: 20, status: 'failed', result: null }),
      createIteration({ id: 'it_3', tokensUsed: null }),
    ];
    expect(tallyAll(iterations).cases[0]?.tokensUsed).toBe(120);
  });

  it('adds up what models used, and counts the iterations in which a recording answered', () => {
    const live = { ...noModelUsage, modelCalls: 2, inputTokens: 100, cachedInputTokens: 40, outputTokens: 10 };
    const mixed = { ...live, replayedCalls: 1 };
    const replayed = { ...noModelUsage, replayedCalls: 3 };
    const [first, other] = tallyAll([
      createIteration({ id: '1', usage: live }),
      createIteration({ id: '2', usage: mixed }),
      createIteration({ id: '3', usage: replayed, result: 'failed' }),
      createIteration({ id: '4', usage: replayed, status: 'failed', result: null }),
      createIteration({ id: '5', testCaseId: 'svc_same_1', usage: noModelUsage }),
    ]).cases;
    expect(first).toMatchObject({ passed: 2, failed: 1, unscored: 1, replayed: { passed: 1, total: 2 } });
    expect(first?.usage).toEqual({
      modelCalls: 4,
      replayedCalls: 7,
      inputTokens: 200,
      cachedInputTokens: 80,
      outputTokens: 20,
      unmeasuredCalls: 0,
    });
    expect(other).toMatchObject({ passed: 1, usage: null, replayed: { passed: 0, total: 0 } });
  });

  it('takes an iteration out of the replayed ones whose result is contradicted', () => {
    const usage = { ...noModelUsage, replayedCalls: 1 };
    const iterations = [createIteration({ usage }), createIteration({ usage, result: 'failed' })];
    expect(tallyAll(iterations).cases[0]).toMatchObject({ passed: 0, unscored: 1, replayed: { passed: 0, total: 0 } });
  });

  it('counts an iteration that it cannot place as unknown, never as a case’s', () => {
    const results = tallyAll([
      createIteration({ id: '1', testCaseId: 'svc_other' }),
      createIteration({ id: '2', testCaseId: null, title: 'Same title' }),
      createIteration({ id: '3', testCaseId: null, title: null }),
      createIteration({ id: '4', testCaseId: '__proto__' }),
    ]);
    expect(results).toMatchObject({ iterationsRead: 4, unknownIterations: 4 });
    expect(results.cases.map(({ passed }) => passed)).toEqual([0, 0, 0]);
  });

  it('counts an iteration once, however often its page is read', () => {
    const iterations = [createIteration({ id: '1' }), createIteration({ id: '2', result: 'failed' })];
    const results = tallyAll([...iterations, ...iterations]);
    expect(results.iterationsRead).toBe(2);
    expect(results.cases[0]).toMatchObject({ passed: 1, failed: 1, unscored: 0, durationsMs: [100, 100] });
    expect(results.cases[0]?.failures).toHaveLength(1);
  });

  it('counts an iteration as unscored if two readings of it disagree', () => {
    const results = tallyAll([createIteration({ result: 'failed' }), createIteration(), createIteration()]);
    expect(results.cases[0]).toMatchObject({ passed: 0, failed: 0, unscored: 1, failures: [] });
  });

  it('gives the same counts in every order', () => {
    const iteration = fc.record({
      id: fc.constantFrom('1', '2', '3', '4', '5', '6'),
      testCaseId: fc.constantFrom('svc_adds', 'svc_same_1', 'nobody', null),
      result: fc.constantFrom('passed', 'failed', 'cancelled', null),
    });
    const shuffled = fc
      .array(iteration, { maxLength: 12 })
      .chain((list) =>
        fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length, maxLength: list.length })),
      );
    fc.assert(
      fc.property(shuffled, ([list, other]) => {
        const build = (parts: typeof list) => parts.map((part) => createIteration(part));
        expect(countsOf(build(list))).toEqual(countsOf(build(other)));
      }),
      { numRuns: 2000 },
    );
  });

  it('keeps a few failures with their steps, scored ones before others, and exact counts', () => {
    const tally = startTally();
    for (let index = 0; index < 20; index += 1) {
      tally.addIteration(
        createIteration({ id: `c${index}`, status: 'cancelled', result: 'cancelled', startedAtMs: 1 }),
      );
    }
    // Has not begun, so that there is nothing to show.
    tally.addIteration(createIteration({ id: 'n', status: 'cancelled', result: 'cancelled' }));
    for (let index = 0; index < 3; index += 1) {
      tally.addIteration(createIteration({ id: `f${index}`, iterationNumber: 3 - index, result: 'failed' }));
    }
    const [member] = tally.finish(end).cases;
    expect(member).toMatchObject({ passed: 0, failed: 3, unscored: 21 });
    expect(member?.failures.map(({ iterationId }) => iterationId)).toEqual(['f2', 'f1', 'f0', 'c0', 'c1']);
    expect(member?.failures).toHaveLength(maxFailuresPerCase);
  });

  it('lists the failures that steps would explain, one of each case before a second of any', () => {
    const tally = startTally();
    const failure = createIteration({ id: 'f0', result: 'failed' });
    for (let index = 0; index <= maxFailuresPerCase; index += 1) tally.addIteration({ ...failure, id: `f${index}` });
    tally.addIteration({ ...failure, id: 'other', testCaseId: 'svc_same_1' });
    tally.addIteration({ ...failure, id: 'nobody', testCaseId: 'svc_nobody' });
    tally.addIteration(createIteration({ id: 'passed' }));
    tally.addIteration(createIteration({ id: 'ours' }), { kind: 'failed', reason: 'No', step: null });
    tally.addIteration(createIteration({ id: 'c', status: 'cancelled', result: 'cancelled' }));
    const list = () => tally.listFailures().map(({ id }) => id);
    expect(list()).toEqual(['f0', 'other', 'f1', 'f2', 'f3', 'f4']);
    tally.explainFailure('f0', []);
    tally.explainFailure('nobody', []);
    expect(list()).toEqual(['f1', 'other', 'f2', 'f3', 'f4']);
  });

  it('keeps a thousand failures in all, and counts the others', () => {
    const cases = Array.from({ length: 1200 }, (_, index) => createSuiteCase({ id: `case-${index}` }));
    const caseIds = new Map(cases.map(({ id }) => [id, id]));
    const options = { caseIds };
    const tally = createTally(outlineSuite(createSuite(cases), createSuite(cases)), options);
    for (const { id } of cases) tally.addIteration(createIteration({ id, testCaseId: id, result: 'failed' }));
    // One that is taken back makes room for another.
    tally.addIteration(createIteration({ id: 'case-0', testCaseId: 'case-0' }));
    tally.addIteration(createIteration({ id: 'late', testCaseId: 'case-1100', result: 'failed' }));
    const results = tally.finish(end);
    const kept = results.cases.flatMap(({ failures }) => failures.map(({ iterationId }) => iterationId));
    expect(kept).toHaveLength(maxFailuresPerSuite);
    expect(kept).toContain('late');
    expect(kept).not.toContain('case-1000');
    expect(results.cases.map(({ failed }) => failed).reduce((sum, failed) => sum + failed)).toBe(1200);
  });

  it('keeps no passing iteration, so that a hundred thousand need little memory', () => {
    const tally = startTally();
    for (let index = 0; index < 100_000; index += 1) {
      tally.addIteration(createIteration({ id: `it_${index}`, durationMs: index }));
    }
    const results = tally.finish(end);
    expect(results.cases[0]).toMatchObject({ passed: 100_000, failures: [] });
    expect(JSON.stringify(results)).not.toContain('it_');
  });

  it("plans the outline's iterations, or those received if the service decides", () => {
    const { cases, ...outline } = outlineSuite(suite, suite);
    const planned = (runs: number | null, iterations: number) => {
      const tally = startTally({ ...outline, file: null, cases: cases.map((member) => ({ ...member, runs })) });
      for (let index = 0; index < iterations; index += 1) tally.addIteration(createIteration({ id: `${index}` }));
      const results = tally.finish(end);
      return [results.file, results.cases[0]?.planned];
    };
    expect([planned(3, 2), planned(null, 2), planned(null, 0)]).toEqual([
      [null, 3],
      [null, 2],
      [null, 1],
    ]);
  });
});

describe('a judgement of the gate on an iteration', () => {
  const step = { id: 'is-five', index: 2, kind: 'assert' };
  const failed: OwnJudgement = { kind: 'failed', reason: 'It is 4.', step };
  const unscored: OwnJudgement = { kind: 'unscored', reason: 'No trace is stored.' };
  const passed: OwnJudgement = { kind: 'passed' };

  const tallyOwn = (readings: ReadonlyArray<[Partial<Iteration>, OwnJudgement | undefined]>) => {
    const tally = startTally();
    for (const [iteration, own] of readings) tally.addIteration(createIteration(iteration), own);
    return tally.finish(end);
  };

  it('takes a pass away, with its reason and step, and the iteration is counted as overruled', () => {
    const results = tallyOwn([
      [{ id: '1' }, failed],
      [{ id: '2' }, unscored],
      [{ id: '3' }, passed],
      [{ id: '4' }, undefined],
    ]);
    expect(results.overruled).toBe(2);
    expect(results.cases[0]).toMatchObject({ passed: 2, failed: 1, unscored: 1, durationsMs: [100, 100, 100] });
    expect(results.cases[0]?.failures).toMatchObject([
      { iterationId: '1', result: 'failed', reasons: ['It is 4.'], step },
      { iterationId: '2', result: 'unscored', reasons: ['No trace is stored.'], step: null },
    ]);
  });

  it('never gives a pass, and adds nothing to what the service failed', () => {
    const results = tallyOwn([
      [{ id: '1', result: 'failed', error: 'Theirs.' }, passed],
      [{ id: '2', result: 'failed', error: 'Theirs.' }, failed],
      [{ id: '3', status: 'cancelled', result: null }, passed],
    ]);
    expect(results.overruled).toBe(0);
    expect(results.cases[0]).toMatchObject({ passed: 0, failed: 2, unscored: 1 });
    expect(results.cases[0]?.failures[1]).toMatchObject({ reasons: ['Theirs.'], step: null });
  });

  it('overrules nothing about an iteration that belongs to no case', () => {
    expect(tallyOwn([[{ testCaseId: 'svc_other' }, failed]])).toMatchObject({ overruled: 0, unknownIterations: 1 });
  });

  it('gives the same counts in every order', () => {
    const reading = fc.tuple(
      fc.record({ id: fc.constantFrom('1', '2'), result: fc.constantFrom('passed', 'failed', null) }),
      fc.constantFrom(undefined, passed, failed, unscored),
    );
    const shuffled = fc
      .array(reading, { maxLength: 8 })
      .chain((list) =>
        fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length, maxLength: list.length })),
      );
    const count = (readings: ReadonlyArray<[Partial<Iteration>, OwnJudgement | undefined]>) => {
      const { overruled, cases } = tallyOwn(readings);
      return [overruled, ...cases.map(({ passed, failed, unscored }) => [passed, failed, unscored])];
    };
    fc.assert(
      fc.property(shuffled, ([list, other]) => {
        expect(count(list)).toEqual(count(other));
      }),
      { numRuns: 1000 },
    );
  });
});

describe('scoreIteration', () => {
  it.each([
    ['completed', 'passed', 'passed'],
    ['completed', 'failed', 'failed'],
    ['failed', 'failed', 'failed'],
    ['timed_out', null, 'failed'],
    ['timed_out', 'failed', 'failed'],
    ['completed', 'timed_out', 'failed'],
    ['timed_out', 'passed', 'failed'],
    ['failed', null, 'unscored'],
    ['failed', 'passed', 'unscored'],
    ['cancelled', 'cancelled', 'unscored'],
    ['cancelled', 'failed', 'unscored'],
    ['running', 'passed', 'unscored'],
    ['pending', null, 'unscored'],
    ['completed', null, 'unscored'],
    ['completed', 'flaky', 'unscored'],
    ['done', 'passed', 'unscored'],
    ['__proto__', 'constructor', 'unscored'],
  ])('counts status %s with result %s as %s', (status, result, outcome) => {
    expect(scoreIteration({ status, result })).toBe(outcome);
  });
});
