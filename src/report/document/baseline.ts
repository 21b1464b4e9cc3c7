import { formatCount } from '../../base/text.ts';
import { type CaseChange, caseChanges, isFallShown, rateConfidence } from '../../model/case-change.ts';
import type { CaseComparison, Comparison, RateChange } from '../../model/comparison.ts';
import type { Counts } from '../../model/quantities.ts';
import { computePassRate, describeSmallestFall, formatMinimumPassRate, formatPassRate } from '../../model/rate.ts';
import type { Report } from '../../model/report.ts';
import type { VerdictOutcome } from '../../model/verdict.ts';
import { asMark, asName, type Block, heading, type Line, list, table, text } from './block.ts';

/** The words for each change. */
const changeWords: Record<CaseChange, string> = {
  regressed: 'regressed',
  unsteady: 'unsteady',
  changed: 'changed (not comparable)',
  unscored: 'without a result',
  new: 'new',
  removed: 'removed',
  fixed: 'fixed',
  unchanged: 'unchanged',
};
const changeMarks: Partial<Record<CaseChange, VerdictOutcome>> = {
  regressed: 'failed',
  unsteady: 'inconclusive',
  fixed: 'passed',
};

/** Names a suite by its id. */
type NameSuite = (suiteId: string) => string;

/** Counts how the cases changed since the baseline: `1 regressed, 2 fixed, 40 unchanged`. */
export function describeChanges({ counts }: Comparison): string {
  const parts = caseChanges
    .filter((change) => counts[change] > 0)
    .map((change) => `${counts[change]} ${changeWords[change]}`);
  return parts.length === 0 ? 'no case in common' : parts.join(', ');
}

/**
 * Describes the change of the pass rates, over the cases that can be compared: the whole populations differ as soon as a case is new, gone
 * or changed. Null if no case can be compared.
 */
export function describeRates({ comparable, counts, notRun, mixed }: Comparison): string | null {
  const { baseline, current } = comparable;
  if (baseline.total === 0 || current.total === 0) return null;
  const rate = ({ passed, total }: Counts) => formatPassRate(computePassRate(passed, total));
  const cases = counts.regressed + counts.unsteady + counts.fixed + counts.unchanged;
  const left =
    notRun === 0
      ? ''
      : ` ${formatCount(notRun, 'case')} of the baseline ${notRun === 1 ? 'was' : 'were'} not to be run here.`;
  return `Over the ${formatCount(cases, 'case')} that can be compared, ${rate(baseline)} passed then and ${rate(current)} now.${left}${describeMixed(mixed)}`;
}

/** Notes how many cases compare recorded answers of models with live ones. */
function describeMixed(mixed: number): string {
  if (mixed === 0) return '';
  return ` ${formatCount(mixed, 'case')} had recorded answers of a model on one side and live ones on the other: a difference in ${mixed === 1 ? 'it' : 'them'} may come from the model.`;
}

/** Describes the change of every suite's pass rate, and whether the data shows a difference. */
export function describeRateChanges({ rates }: Pick<Comparison, 'rates'>, nameSuite: NameSuite = (id) => id): Line[] {
  return rates
    .filter(({ worse, better }) => worse + better > 0)
    .map((rate) => {
      const { suiteId, difference, lower, upper, worse, better, pValue, tasks } = rate;
      const isShown = lower > 0 || upper < 0 || isFallShown(rate);
      const range = `${formatPoints(lower)} to ${formatPoints(upper)} with ${formatMinimumPassRate(rateConfidence)} confidence`;
      const cases = `${formatCount(worse, 'case')} worse, ${better} better (p = ${formatProbability(pValue)})`;
      const what = `${formatPoints(difference)} points, ${range}${isShown ? '' : ', so no difference is shown'}`;
      return ['Pass rate of ', asName(nameSuite(suiteId)), `: ${what}; ${cases}.${describeTasks(tasks)}`];
    });
}

/** Describes the smallest fall that each suite with a limit on its rate can detect. */
export function describeSmallestFalls(
  { rates, maximumRateDrop }: Pick<Comparison, 'rates' | 'maximumRateDrop'>,
  nameSuite: NameSuite = (id) => id,
): Line[] {
  return rates.flatMap(({ suiteId, smallestFall }) => {
    if (smallestFall === undefined || maximumRateDrop === null) return [];
    const fall = describeSmallestFall(smallestFall, maximumRateDrop);
    return [['Pass rate of ', asName(nameSuite(suiteId)), `: ${fall}.`]];
  });
}

/** Describes the sign-flip test over tasks if the policy asks for tasks, or why there is none. */
function describeTasks(tasks: RateChange['tasks']): string {
  if (tasks === undefined) return '';
  if (tasks.pValue !== null) return ` Over tasks: p = ${formatProbability(tasks.pValue)} for such a fall.`;
  const compared = `${formatCount(tasks.cases, 'case')} with as many iterations as before`;
  return ` ${compared} show nothing about tasks, for which there have to be five; the test is of these cases.`;
}

function formatPoints(difference: number): string {
  const points = (difference * 100).toFixed(1).replace('-', '−');
  return difference > 0 ? `+${points}` : points;
}

function formatProbability(value: number): string {
  return value < 0.001 ? 'below 0.001' : value.toFixed(3);
}

/** Describes the gate of the baseline: its source is as the user wrote it, and foreign text if a branch has a strange name. */
export function describeBaseline({ baseline }: Comparison): { source: string; rest: string } {
  const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(baseline.startedAt)
    ? ` of ${baseline.startedAt.slice(0, 16).replace('T', ' ')} UTC`
    : '';
  const commit = /^[0-9a-f]{7,64}$/.test(baseline.commit ?? '') ? `, commit ${baseline.commit?.slice(0, 7)}` : '';
  return { source: baseline.source, rest: `${time}${commit}` };
}

/** Formats the current counts: `0 of 1, and 0 of 7 further`. */
export function formatCurrent({ current, confirming }: Pick<CaseComparison, 'current' | 'confirming'>): string {
  const further = confirming === undefined ? '' : `, and ${formatCounts(confirming)} further`;
  return `${formatCounts(current)}${further}`;
}

/** Formats counts: `2 of 3`; a dash if that side has no such case. */
export function formatCounts(counts: Counts | null): string {
  return counts === null ? '–' : `${counts.passed} of ${counts.total}`;
}

/** Composes how the cases changed since the baseline: the counts, the rates, then each case that changed. */
export function composeBaseline({ comparison }: Pick<Report, 'comparison'>): Block[] {
  if (comparison === null) return [];
  const { source, rest } = describeBaseline(comparison);
  const rates = describeRates(comparison);
  return [
    heading('screen', ['Against the baseline']),
    text('brief', 'Compared with the baseline ', asName(source), `${rest}: ${describeChanges(comparison)}.`),
    ...(rates === null ? [] : [text('screen', rates)]),
    list('screen', [...describeRateChanges(comparison), ...describeSmallestFalls(comparison)], { noun: 'pass rate' }),
    table(
      'screen',
      ['Change', 'Case', 'Then', 'Now'],
      comparison.cases.map(({ change, title, baseline, ...now }) => {
        const mark = changeMarks[change];
        const name = [...(mark === undefined ? [] : [asMark(mark), ' ']), changeWords[change]];
        return [name, [asName(title)], [formatCounts(baseline)], [formatCurrent(now)]];
      }),
      { noun: 'case', what: ' changed' },
    ),
  ];
}
