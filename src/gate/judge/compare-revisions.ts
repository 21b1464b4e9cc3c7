import { formatCount } from '../../base/text.ts';
import type { CaseResults, SuiteResults } from '../../model/results.ts';
import type { SuiteCase } from '../../model/suite.ts';
import type { PlannedSuite } from '../plan/plan-suites.ts';

/** Lists of a report are short. */
const maxNamed = 5;

/**
 * Says of which cases that were run in both revisions of MCP the results differ, one sentence each. Iterations without a result say
 * nothing, and neither do cases that this job ran in one revision only.
 */
export function listRevisionDifferences(
  suites: readonly PlannedSuite[],
  results: ReadonlyArray<Pick<SuiteResults, 'suiteId' | 'cases'>>,
): string[] {
  return suites.flatMap((planned): string[] => {
    if (planned.kind === 'stored' || planned.protocol.value !== 'both') return [];
    const { suite } = planned;
    const measured = results.find(({ suiteId }) => suiteId === suite.id)?.cases ?? [];
    const pairs = Map.groupBy(suite.cases, ({ variantOf: [both] }) => both?.id ?? '');
    const differences = [...pairs.values()].flatMap((variants) => describeDifference(variants, measured) ?? []);
    if (differences.length === 0) return [];
    const hidden = differences.length - maxNamed;
    const more = hidden > 0 ? ` ${hidden} more cases differ.` : '';
    return [
      `${suite.name} has different results in the two revisions of MCP: ${differences.slice(0, maxNamed).join(' ')}${more}`,
    ];
  });
}

function describeDifference(variants: readonly SuiteCase[], measured: readonly CaseResults[]): string | null {
  const rates = variants.flatMap(({ id, protocol }) => {
    const found = measured.find((result) => result.id === id);
    const scored = found === undefined ? 0 : found.passed + found.failed;
    return found === undefined || scored === 0 ? [] : [{ protocol, passed: found.passed, scored }];
  });
  const [first, second] = rates;
  if (first === undefined || second === undefined) return null;
  if (first.passed * second.scored === second.passed * first.scored) return null;
  const parts = rates.map(
    ({ protocol, passed, scored }) => `${passed} of ${formatCount(scored, 'iteration')} in ${protocol}`,
  );
  return `"${variants[0]?.variantOf[0]?.title ?? ''}" passed ${parts.join(' and ')}.`;
}
