import { countCoverage, coverageNames } from '../model/coverage.ts';
import type { CoverageReport } from '../model/coverage-report.ts';
import type { GatePolicy } from '../model/policy.ts';
import { formatMinimumPassRate, formatPassRate, meetsMinimumPassRate } from '../model/rate.ts';
import { endSentence, formatCount } from '../base/text.ts';
import { renderProse, renderTableCode } from './escape/markdown.ts';
import { truncateText } from './truncate.ts';

const maxNameLength = 80;

/** Lists the counts on one line: `Coverage: 4 of 5 tools, 6 of 10 parameters`. */
export function describeCoverage(coverage: CoverageReport): string {
  if (coverage.unread !== null) return 'Coverage: not known';
  const counts = countCoverage(coverage);
  if (counts.length === 0) return 'Coverage: the server shows nothing to cover';
  return `Coverage: ${counts.map(({ kind, covered, total }) => `${covered} of ${total} ${coverageNames[kind]}`).join(', ')}`;
}

/** Says what the counts leave out, in sentences; empty where they are all. */
export function listCoverageNotes({ isPartial, unreadTraces, unread }: CoverageReport): string[] {
  return [
    ...(unread === null ? [] : [endSentence(unread)]),
    ...(isPartial ? ['Only a part of the cases ran, so that no minimum is judged.'] : []),
    ...(unreadTraces === 0
      ? []
      : [
          `The traces of ${formatCount(unreadTraces, 'case')} were not read, so that more error paths, prompts and resources may be covered.`,
        ]),
  ];
}

/** Renders the coverage as blocks of Markdown, for the job summary: a row for each kind, with its minimum and what is missing. */
export function listCoverageBlocks(
  coverage: CoverageReport,
  { minimumCoverage = [] }: Pick<GatePolicy, 'minimumCoverage'>,
  { maxMissing }: { maxMissing: number },
): string[] {
  const hasMinimum = minimumCoverage.length > 0;
  const rows = countCoverage(coverage).map(({ kind, covered, total, missing }) => {
    const minimum = minimumCoverage.find(({ name }) => name === kind);
    const isMet = minimum === undefined || meetsMinimumPassRate(covered, total, minimum.value);
    const required = minimum === undefined ? '' : `${isMet ? '✅' : '❌'} ${formatMinimumPassRate(minimum.value)}`;
    const named = missing.slice(0, maxMissing).map((name) => renderTableCode(truncateText(name, maxNameLength)));
    const rest = missing.length - named.length;
    const more = rest === 0 ? [] : [`${named.length === 0 ? '' : 'and '}${rest}${named.length === 0 ? '' : ' more'}`];
    const cells = [coverageNames[kind], `${covered} of ${total}`, formatPassRate(covered / total)];
    return `| ${[...cells, ...(hasMinimum ? [required] : []), [...named, ...more].join(' ')].join(' | ')} |`;
  });
  const titles = ['', 'Covered', 'Share', ...(hasMinimum ? ['Minimum'] : []), 'Not covered'];
  const head = `| ${titles.join(' | ')} |\n|${titles.map(() => '---').join('|')}|`;
  return [
    '### Coverage',
    ...listCoverageNotes(coverage).map(renderProse),
    ...(rows.length === 0 ? [] : [[head, ...rows].join('\n')]),
  ];
}
