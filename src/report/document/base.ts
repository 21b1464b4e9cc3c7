import { formatCount } from '../../base/text.ts';
import type { BaseCaseComparison, BaseComparison } from '../../model/base-comparison.ts';
import { formatMinimumPassRate } from '../../model/rate.ts';
import type { Report } from '../../model/report.ts';
import { formatCounts } from './baseline.ts';
import { asMark, asName, asProse, type Block, briefly, heading, joinLines, type Line, table, text } from './block.ts';

const maxNamed = 5;

/**
 * Describes in one sentence how the change compares with the base that ran in the same job: `Worse than the base (1a2b3c4, the merge base
 * with main): 2 of 20 cases.` It names these cases only where no table does.
 */
export function describeBase(
  { label, problem, cases, isWorse }: BaseComparison,
  { namesCases = false }: { namesCases?: boolean } = {},
): Line {
  const base = ['the base (', asName(label), ')'];
  if (problem !== null) return ['Not compared with ', ...base, ': ', asProse(problem)];
  if (cases.length === 0) return ['Not compared with ', ...base, ': no case has a result on both sides.'];
  const worse = cases.filter((item) => item.isWorse);
  const of = `of ${formatCount(cases.length, 'case')}`;
  if (worse.length === 0) {
    return isWorse
      ? [
          'Worse than ',
          ...base,
          ` over all ${formatCount(cases.length, 'case')} together, and in no single one for certain.`,
        ]
      : ['Not shown to be worse than ', ...base, ` in any ${of}.`];
  }
  if (!namesCases) return ['Worse than ', ...base, `: ${worse.length} ${of}.`];
  const named = joinLines(
    worse.slice(0, maxNamed).map(({ title }) => [asName(title)]),
    ', ',
  );
  const hidden = worse.length - maxNamed;
  return ['Worse than ', ...base, `: ${worse.length} ${of} (`, ...named, hidden > 0 ? ` and ${hidden} more).` : ').'];
}

/** Describes the size of the comparison, and how to repeat its order; null if nothing is compared. */
export function describePairs({
  problem,
  cases,
  newCases,
  cached = 0,
  unpaired,
  seed,
  confidence,
  processes,
}: BaseComparison): string | null {
  if (problem !== null || cases.length === 0) return null;
  const pairs = cases.reduce((sum, { base }) => sum + base.total, 0);
  const parts = [
    `${formatCount(pairs, 'pair')} of iterations of ${formatCount(cases.length, 'case')}, in rounds with the seed ${seed}`,
    ...(cached > 0
      ? [`${formatCount(cached, 'result')} of the base ${cached === 1 ? 'is' : 'are'} kept from an earlier job`]
      : []),
    ...(newCases > 0 ? [`${formatCount(newCases, 'case')} ${newCases === 1 ? 'is' : 'are'} new and not compared`] : []),
    ...(processes !== 'several-rounds'
      ? []
      : ['a process of a server ran several rounds, and the comparison assumes that they share no state']),
    ...(unpaired > 0 ? [`${formatCount(unpaired, 'case')} had no result on one side`] : []),
  ];
  return `${parts.join('; ')}. A case counts as worse with ${formatMinimumPassRate(confidence)} confidence.`;
}

/** Names the result of a case for its row. */
export function describeChange({ isWorse, broken, fixed }: BaseCaseComparison): string {
  if (isWorse) return 'worse';
  if (broken > 0 && fixed > 0) return 'differs both ways';
  return broken > 0 ? 'not settled' : 'better';
}

/** Explains the names of results that say less than a reader may think; null if no case has one. */
export function explainChanges(cases: readonly BaseCaseComparison[]): string | null {
  const names = new Set(cases.filter(({ broken, fixed }) => broken + fixed > 0).map(describeChange));
  const parts = [
    ...(names.has('not settled')
      ? ['“Not settled”: it failed more often than the base, in too few rounds to call it worse.']
      : []),
    ...(names.has('better') ? ['“Better”: it failed less often than the base, which may be chance.'] : []),
    ...(names.has('differs both ways')
      ? ['“Differs both ways”: in some rounds only the base passed, in others only the change.']
      : []),
  ];
  return parts.length === 0 ? null : parts.join(' ');
}

/** Composes how the change compares with the base that ran in the same job: a sentence, then each case that differs. */
export function composeBase({ baseComparison }: Pick<Report, 'baseComparison'>): Block[] {
  if (baseComparison === null) return [];
  const { cases } = baseComparison;
  const pairs = describePairs(baseComparison);
  const explanation = explainChanges(cases);
  const different = cases.filter(({ broken, fixed }) => broken + fixed > 0);
  const alike = cases.length - different.length;
  return [
    heading('screen', ['Against the base']),
    briefly(text('brief', ...describeBase(baseComparison, { namesCases: true }))),
    text('screen', ...describeBase(baseComparison)),
    ...(pairs === null ? [] : [text('screen', pairs)]),
    table(
      'screen',
      ['Result', 'Case', 'Base', 'Change'],
      different.map((item) => [
        [...(item.isWorse ? [asMark('failed'), ' '] : []), describeChange(item)],
        [asName(item.title)],
        [formatCounts(item.base)],
        [formatCounts(item.head)],
      ]),
      { noun: 'case', what: ' differed' },
    ),
    ...(explanation === null ? [] : [{ ...text('screen', explanation), isFine: true }]),
    ...(different.length > 0 && alike > 0
      ? [text('screen', `${formatCount(alike, 'case')} had the same results on both sides.`)]
      : []),
  ];
}
