import { countCoverage, coverageNames, judgeMinimum } from '../model/coverage.ts';
import type { CoverageReport } from '../model/coverage-report.ts';
import type { GatePolicy } from '../model/policy.ts';
import { formatMinimumPassRate, formatPassRate } from '../model/rate.ts';
import { describeSource } from '../model/source.ts';
import type { VerdictReason } from '../model/verdict.ts';

/** The most items that a reason names; the report lists all. */
const maxNamed = 5;

/**
 * Judges the coverage of the evals by the policy; empty if every minimum is met. Does not judge a part of a gate, since the other parts
 * cover the rest. A coverage that was not measured leaves a minimum open, and so do missing results. Pure.
 */
export function judgeCoverage(
  coverage: CoverageReport | undefined,
  { minimumCoverage = [] }: Pick<GatePolicy, 'minimumCoverage'>,
  { isComplete }: { isComplete: boolean },
): VerdictReason[] {
  if (minimumCoverage.length === 0 || coverage?.isPartial === true) return [];
  if (coverage === undefined || coverage.unread !== null) {
    const why = coverage?.unread ?? 'the gate did not measure it';
    return [{ code: 'coverage-unread', message: `The coverage of the server is not known: ${why}` }];
  }
  const counts = countCoverage(coverage);
  return minimumCoverage.flatMap(({ name, value, source }): VerdictReason[] => {
    const found = counts.find(({ kind }) => kind === name);
    // A server without prompts has none to cover.
    if (found === undefined) return [];
    const state = judgeMinimum(found, value, { ...coverage, isComplete });
    if (state === 'met') return [];
    const { kind, covered, total, missing } = found;
    const message = `The evals cover ${covered} of ${total} ${coverageNames[kind]} (${formatPassRate(covered / total)}); minimumCoverage.${kind} is ${formatMinimumPassRate(value)} (${describeSource(source)}).`;
    const rest = missing.length - maxNamed;
    const list = `Not covered: ${missing.slice(0, maxNamed).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}.`;
    return state === 'unknown'
      ? [{ code: 'coverage-unread', message: `${message} Not all results were read, so that more may be covered.` }]
      : [{ code: 'below-minimum-coverage', message: `${message} ${list}` }];
  });
}
