import { describe, expect, it } from 'vitest';
import { listRevisionDifferences } from '../../src/verdict/compare-revisions.ts';
import { createCaseResults, createSuiteResults } from '../support/factories/results-factory.ts';

/** A case by its passed and failed iterations in each revision. */
function run(id: string, old: [number, number], modern: [number, number]) {
  const variants = [
    { revision: '2025-11-25', counts: old },
    { revision: '2026-07-28', counts: modern },
  ];
  return variants.map(({ revision, counts: [passed, failed] }) =>
    createCaseResults({ id: `${id}--${revision}`, title: `Case ${id} (${revision})`, passed, failed }),
  );
}

const compare = (...cases: Array<ReturnType<typeof run>>) =>
  listRevisionDifferences([createSuiteResults({ name: 'Notes', cases: cases.flat() })]);

describe('listRevisionDifferences', () => {
  it('names the cases whose pass rates differ', () => {
    expect(compare(run('a', [3, 0], [0, 3]), run('b', [2, 0], [1, 0]), run('c', [1, 1], [1, 0]))).toEqual([
      'Notes has different results in the two revisions of MCP: "Case a" passed 3 of 3 iterations in 2025-11-25 and 0 of 3 iterations in 2026-07-28. "Case c" passed 1 of 2 iterations in 2025-11-25 and 1 of 1 iteration in 2026-07-28.',
    ]);
  });

  it('counts the cases beyond five', () => {
    const cases = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((id) => run(id, [1, 0], [0, 1]));
    expect(compare(...cases)[0]).toMatch(/"Case e" .* 2 more cases differ\.$/);
  });

  it('says nothing of equal rates, of cases without a result, and of cases in one revision', () => {
    const alone = createCaseResults({ id: 'c--2025-11-25', passed: 1 });
    expect(compare(run('a', [1, 1], [2, 2]), run('b', [0, 0], [1, 0]), [alone])).toEqual([]);
    expect(compare([createCaseResults({ id: 'a', passed: 1 })])).toEqual([]);
  });
});
