import type { HistoryRecord } from '../model/history.ts';
import type { ProbationCase } from '../model/policy.ts';
import type { CaseOutline } from '../model/results.ts';

/** Matches the names of pull and merge requests in the history: in their gates, a change could pass by its own requirements. */
const changeRequest = /^(?:PR|MR) \S+$/;

/**
 * Lists the cases on probation: those that have not passed in `neededGates` gates in a row, in every iteration and with their present
 * definition. A case that has done so once is stable from then on: if a failure put it back on probation, a regression would fail only one
 * nightly gate. Required cases are never on probation. Gates of pull requests do not count, nor does a pass that only recordings gave: the
 * next one would be the same.
 */
export function listOnProbation(
  { suiteId, cases }: { suiteId: string; cases: readonly CaseOutline[] },
  records: readonly HistoryRecord[],
  neededGates: number,
): ProbationCase[] {
  const named = records.filter(({ branch }) => branch === null || !changeRequest.test(branch));
  return cases.flatMap(({ id, isRequired, definitionHash }) => {
    if (isRequired) return [];
    const gates = named.flatMap((record) =>
      record.cases.filter((testCase) => testCase.suiteId === suiteId && testCase.id === id && testCase.total > 0),
    );
    let inARow = 0;
    for (const { passed, total, replayed, definitionHash: then } of gates) {
      if (replayed >= total && passed === total) continue;
      const isSame = then !== null && then === definitionHash;
      inARow = isSame && passed === total ? inARow + 1 : 0;
      if (inARow >= neededGates) return [];
    }
    return [{ case: id, passedGates: inARow, neededGates }];
  });
}
