import { countCoverage, coverageNames, judgeMinimum, type MinimumState } from '../model/coverage.ts';
import type { CoverageKind, CoverageReport } from '../model/coverage-report.ts';
import { formatMinimumPassRate, formatPassRate } from '../model/rate.ts';
import type { Report } from '../model/report.ts';
import { endSentence, formatCount } from '../base/text.ts';
import { renderProse, renderTableCode } from './escape/markdown.ts';
import { truncateText } from './truncate.ts';

const maxNameLength = 80;

const minimumMarks: Record<MinimumState, string> = { met: '✅', 'not-met': '❌', unknown: '⚠️', unjudged: '' };

/** A minimum that the policy requires of a kind, from 0 to 1. */
export interface JudgedMinimum {
  kind: CoverageKind;
  value: number;
  state: MinimumState;
}

/** Judges every minimum of the policy for a kind that the server has. */
export function judgeMinima(
  coverage: CoverageReport,
  { policy: { minimumCoverage = [] }, results }: Pick<Report, 'policy' | 'results'>,
): JudgedMinimum[] {
  const isComplete = results.every(({ interruption }) => interruption === null);
  return countCoverage(coverage).flatMap((count) => {
    const value = minimumCoverage.find(({ name }) => name === count.kind)?.value;
    if (value === undefined) return [];
    return [{ kind: count.kind, value, state: judgeMinimum(count, value, { ...coverage, isComplete }) }];
  });
}

/** Lists the counts on one line: `Coverage: 4 of 5 tools, 6 of 10 parameters`. */
export function describeCoverage(coverage: CoverageReport): string {
  if (coverage.unread !== null) return 'Coverage: not known';
  const counts = countCoverage(coverage);
  if (counts.length === 0) return 'Coverage: the server shows nothing to cover';
  return `Coverage: ${counts.map(({ kind, covered, total }) => `${covered} of ${total} ${coverageNames[kind]}`).join(', ')}`;
}

/** Lists what the counts leave out, in sentences; empty if they are complete. */
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
  report: Pick<Report, 'policy' | 'results'>,
  { maxMissing }: { maxMissing: number },
): string[] {
  const minima = judgeMinima(coverage, report);
  const hasMinimum = minima.length > 0;
  const rows = countCoverage(coverage).map(({ kind, covered, total, missing }) => {
    const minimum = minima.find((each) => each.kind === kind);
    const required =
      minimum === undefined ? '' : `${minimumMarks[minimum.state]} ${formatMinimumPassRate(minimum.value)}`.trim();
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
