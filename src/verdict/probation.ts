import type { HistoryRecord } from '../model/history.ts';
import type { ProbationCase } from '../model/policy.ts';
import type { CaseOutline } from '../model/results.ts';

/** How the history calls the gates of pull and merge requests, in which a change could pass on its own terms. */
const changeRequest = /^(?:PR|MR) \S+$/;

/**
 * Lists the cases on probation: those that have not passed, in every iteration and with the definition that they have now, in
 * `neededGates` gates in a row. A case that has done so once is trusted from then on: were a failure to take the trust away
 * again, a regression would be red for one night. Required cases are never on probation. Gates of pull requests do not count, and neither does
 * a pass that recordings alone gave: the next one would be the same.
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
