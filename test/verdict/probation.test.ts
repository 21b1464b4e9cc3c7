import { describe, expect, it } from 'vitest';
import type { HistoryCase } from '../../src/model/history.ts';
import { judgeSuite } from '../../src/verdict/judge.ts';
import { listOnProbation } from '../../src/verdict/probation.ts';
import { createHistoryRecord } from '../support/factories/history-factory.ts';
import { atLeast, createPolicy } from '../support/factories/policy-factory.ts';
import { createCaseResults, createSuiteResults } from '../support/factories/results-factory.ts';

const outline = (fields: { isRequired?: boolean } = {}) => ({
  suiteId: 'math',
  cases: [{ ...createCaseResults(), runs: 2, isRequired: false, ...fields }],
});
/** A gate each, in which the case passed so many of its two iterations. */
const gates = (passed: readonly number[], fields: Partial<HistoryCase> = {}, branch: string | null = 'main') =>
  passed.map((count) => {
    const [adds] = createHistoryRecord().cases;
    if (adds === undefined) throw new Error('The factory has no case.');
    return createHistoryRecord({ branch, cases: [{ ...adds, passed: count, ...fields }] });
  });

describe('listOnProbation', () => {
  it.each([
    ['nothing is known of it', [], 0],
    ['it has passed too few times', [2, 2], 2],
    ['it did not pass in a row', [2, 2, 1, 2], 1],
    ['it has just failed', [2, 2, 0], 0],
  ])('lists a case while %s', (_, passed, passedGates) => {
    expect(listOnProbation(outline(), gates(passed), 3)).toEqual([{ case: 'adds', passedGates, neededGates: 3 }]);
  });

  it.each([
    ['just so', [2, 2, 2]],
    ['some time ago, whatever came after', [2, 2, 2, 0, 1]],
  ])('counts a case that has passed often enough as stable, %s', (_, passed) => {
    expect(listOnProbation(outline(), gates(passed), 3)).toEqual([]);
  });

  it('counts a required case as stable without a history', () => {
    expect(listOnProbation(outline({ isRequired: true }), [], 3)).toEqual([]);
  });

  it('puts a case with a new definition on probation again', () => {
    const other = gates([2, 2, 2], { definitionHash: 'another' });
    expect(listOnProbation(outline(), [...other, ...gates([2])], 3)).toMatchObject([{ passedGates: 1 }]);
    expect(listOnProbation(outline(), gates([2, 2, 2], { definitionHash: null }), 3)).toHaveLength(1);
  });

  it('does not count a pass that recordings alone gave, and counts their failure', () => {
    const replayed = (passed: readonly number[]) => gates(passed, { replayed: 2 });
    expect(listOnProbation(outline(), [...gates([2, 2]), ...replayed([2, 2, 2])], 3)).toMatchObject([
      { passedGates: 2 },
    ]);
    expect(listOnProbation(outline(), [...gates([2]), ...replayed([2]), ...gates([2, 2])], 3)).toEqual([]);
    expect(listOnProbation(outline(), [...gates([2, 2]), ...replayed([1])], 3)).toMatchObject([{ passedGates: 0 }]);
    expect(listOnProbation(outline(), gates([2, 2, 2], { replayed: 1 }), 3)).toEqual([]);
  });

  it('does not count gates of pull requests, of other suites, and those without a result', () => {
    expect(listOnProbation(outline(), gates([2, 2, 2], {}, 'PR 12'), 3)).toHaveLength(1);
    expect(listOnProbation(outline(), gates([2, 2, 2], { suiteId: 'other' }), 3)).toHaveLength(1);
    expect(listOnProbation(outline(), [...gates([2, 2]), ...gates([0], { total: 0 }), ...gates([2])], 3)).toEqual([]);
  });
});

describe('a suite with cases on probation', () => {
  const { requirements, today } = createPolicy(atLeast(1));
  const probation = [{ case: 'fresh', passedGates: 1, neededGates: 3 }];
  const judge = (...cases: Array<Parameters<typeof createCaseResults>[0]>) =>
    judgeSuite(createSuiteResults({ cases: cases.map((member) => createCaseResults(member)) }), {
      policy: { requirements: { ...requirements, probation }, today },
    });

  it('is judged by its stable cases', () => {
    expect(judge({}, { id: 'fresh', passed: 0, failed: 3 }).outcome).toBe('passed');
    expect(judge({ passed: 2, failed: 1 }, { id: 'fresh' }).outcome).toBe('failed');
  });

  it('is inconclusive without a stable case', () => {
    expect(judge({ id: 'fresh' })).toMatchObject({ outcome: 'inconclusive', reasons: [{ code: 'only-probation' }] });
  });
});
