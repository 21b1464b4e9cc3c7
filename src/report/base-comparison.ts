import { formatCount } from '../base/text.ts';
import type { BaseCaseComparison, BaseComparison } from '../model/base-comparison.ts';
import { formatMinimumPassRate } from '../model/rate.ts';
import { formatCounts } from './comparison.ts';
import { renderCodeSpan, renderProse, renderTableCode } from './escape/markdown.ts';
import { truncateText } from './truncate.ts';

const maxTitleLength = 120;
const maxNamed = 5;
const maxProblemLength = 500;

/** Escapes foreign texts: those of an evals file or a branch as a name, those of a server as a part of a sentence. */
interface Escapes {
  name: (text: string) => string;
  prose: (text: string) => string;
}

const markdown: Escapes = { name: renderCodeSpan, prose: renderProse };

/**
 * Describes in one sentence how the change compares with the base that ran in the same job: `Worse than the base (1a2b3c4, the merge base
 * with main): 2 of 20 cases (…).`
 */
export function describeBase(
  { label, problem, cases, isWorse }: BaseComparison,
  { name, prose }: Escapes = markdown,
): string {
  const base = `the base (${name(truncateText(label, maxTitleLength))})`;
  if (problem !== null) {
    return `Not compared with ${base}: ${prose(truncateText(problem, maxProblemLength))}`;
  }
  if (cases.length === 0) return `Not compared with ${base}: no case has a result on both sides.`;
  const worse = cases.filter((item) => item.isWorse);
  const of = `of ${formatCount(cases.length, 'case')}`;
  if (worse.length === 0) {
    return isWorse
      ? `Worse than ${base} over all ${formatCount(cases.length, 'case')} together, and in no single one for certain.`
      : `Not shown to be worse than ${base} in any ${of}.`;
  }
  const named = worse.slice(0, maxNamed).map(({ title }) => name(truncateText(title, maxTitleLength)));
  const hidden = worse.length - named.length;
  return `Worse than ${base}: ${worse.length} ${of} (${named.join(', ')}${hidden > 0 ? ` and ${hidden} more` : ''}).`;
}

/** Describes the size of the comparison, and how to repeat its order; null if nothing is compared. */
export function describePairs({
  problem,
  cases,
  newCases,
  unpaired,
  seed,
  confidence,
  processes,
}: BaseComparison): string | null {
  if (problem !== null || cases.length === 0) return null;
  const pairs = cases.reduce((sum, { base }) => sum + base.total, 0);
  const parts = [
    `${formatCount(pairs, 'pair')} of iterations of ${formatCount(cases.length, 'case')}, in rounds with the seed ${seed}`,
    ...(newCases > 0 ? [`${formatCount(newCases, 'case')} ${newCases === 1 ? 'is' : 'are'} new and not compared`] : []),
    ...(processes !== 'several-rounds'
      ? []
      : ['a process of a server ran several rounds, and the comparison assumes that they share no state']),
    ...(unpaired > 0 ? [`${formatCount(unpaired, 'case')} had no result on one side`] : []),
  ];
  return `${parts.join('; ')}. A case counts as worse with ${formatMinimumPassRate(confidence)} confidence.`;
}

/** Lists the cases with different results on the two sides. */
export function listDifferent({ cases }: BaseComparison): BaseCaseComparison[] {
  return cases.filter(({ broken, fixed }) => broken + fixed > 0);
}

/** Names the result of a case for its row. */
export function describeChange({ isWorse, broken, fixed }: BaseCaseComparison): string {
  if (isWorse) return 'worse';
  if (broken > 0 && fixed > 0) return 'differs both ways';
  return broken > 0 ? 'not settled' : 'better';
}

/** Lists the part of the job summary about the base of the same job, as blocks of Markdown. */
export function listBaseBlocks(comparison: BaseComparison, { maxRows }: { maxRows: number }): string[] {
  const pairs = describePairs(comparison);
  const different = listDifferent(comparison);
  const rows = different.slice(0, maxRows).map((item) => {
    const mark = item.isWorse ? '❌ ' : '';
    const title = renderTableCode(truncateText(item.title, maxTitleLength));
    return `| ${mark}${describeChange(item)} | ${title} | ${formatCounts(item.base)} | ${formatCounts(item.head)} |`;
  });
  const hidden = different.length - rows.length;
  const alike = comparison.cases.length - different.length;
  return [
    '### Against the base',
    describeBase(comparison),
    ...(pairs === null ? [] : [pairs]),
    ...(rows.length === 0 ? [] : [['| Result | Case | Base | Change |', '|---|---|---|---|', ...rows].join('\n')]),
    ...(hidden > 0 ? [`${formatCount(hidden, 'more case')} differed; the report lists them.`] : []),
    ...(rows.length > 0 && alike > 0 ? [`${formatCount(alike, 'case')} had the same results on both sides.`] : []),
  ];
}
