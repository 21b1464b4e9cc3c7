import { formatCount } from '../base/text.ts';
import { protocolRevisions } from '../model/protocol.ts';
import type { CaseResults, SuiteResults } from '../model/results.ts';

/** Keeps lists in a report short. */
const maxNamed = 5;

/**
 * Lists the cases that ran in both revisions of MCP with different results, one sentence for each suite. Their ids end in the revision, as
 * `expandRevisions` names them. Ignores iterations without a result.
 */
export function listRevisionDifferences(suites: ReadonlyArray<Pick<SuiteResults, 'name' | 'cases'>>): string[] {
  return suites.flatMap(({ name, cases }) => {
    const byId = new Map(cases.map((result) => [result.id, result]));
    const differences = cases.flatMap((first) => {
      const [own, other] = protocolRevisions;
      const second = first.id.endsWith(`--${own}`) ? byId.get(first.id.slice(0, -own.length) + other) : undefined;
      return second === undefined ? [] : (describeDifference(first, second) ?? []);
    });
    if (differences.length === 0) return [];
    const hidden = differences.length - maxNamed;
    const more = hidden > 0 ? ` ${formatCount(hidden, 'more case')} differ.` : '';
    const shown = differences.slice(0, maxNamed).join(' ');
    return [`${name} has different results in the two revisions of MCP: ${shown}${more}`];
  });
}

function describeDifference(first: CaseResults, second: CaseResults): string | null {
  const [own, other] = protocolRevisions;
  const scored = (result: CaseResults) => result.passed + result.failed;
  if (scored(first) === 0 || scored(second) === 0) return null;
  if (first.passed * scored(second) === second.passed * scored(first)) return null;
  const describe = (result: CaseResults) => `${result.passed} of ${formatCount(scored(result), 'iteration')}`;
  const title = first.title.replace(` (${own})`, '');
  return `"${title}" passed ${describe(first)} in ${own} and ${describe(second)} in ${other}.`;
}
