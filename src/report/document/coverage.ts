import { countCoverage, coverageNames, judgeMinimum, type MinimumState } from '../../model/coverage.ts';
import type { CoverageKind, CoverageReport } from '../../model/coverage-report.ts';
import { formatMinimumPassRate, formatPassRate } from '../../model/rate.ts';
import type { Report } from '../../model/report.ts';
import { endSentence, formatCount } from '../../base/text.ts';
import type { VerdictOutcome } from '../../model/verdict.ts';
import { asMark, asName, asProse, type Block, heading, joinLines, type Line, table, text } from './block.ts';

/** The number of items that a row names as not covered. */
const maxMissing = 8;

const minimumMarks: Record<MinimumState, VerdictOutcome | null> = {
  met: 'passed',
  'not-met': 'failed',
  unknown: 'inconclusive',
  unjudged: null,
};

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

/** Composes the coverage: a row for each kind, with its minimum and what is missing. */
export function composeCoverage(report: Pick<Report, 'coverage' | 'policy' | 'results'>): Block[] {
  const { coverage } = report;
  if (coverage === undefined) return [];
  const minima = judgeMinima(coverage, report);
  const hasMinimum = minima.length > 0;
  return [
    heading('screen', ['Coverage']),
    ...listCoverageNotes(coverage).map((note) => text('screen', asProse(note))),
    table(
      'screen',
      ['', 'Covered', 'Share', ...(hasMinimum ? ['Minimum'] : []), 'Not covered'],
      countCoverage(coverage).map(({ kind, covered, total, missing }) => [
        [coverageNames[kind]],
        [`${covered} of ${total}`],
        [formatPassRate(covered / total)],
        ...(hasMinimum ? [describeMinimum(minima.find((minimum) => minimum.kind === kind))] : []),
        describeMissing(missing),
      ]),
      { noun: 'kind' },
    ),
  ];
}

function describeMinimum(minimum: JudgedMinimum | undefined): Line {
  if (minimum === undefined) return [];
  const mark = minimumMarks[minimum.state];
  return [...(mark === null ? [] : [asMark(mark), ' ']), formatMinimumPassRate(minimum.value)];
}

function describeMissing(missing: readonly string[]): Line {
  const hidden = missing.length - maxMissing;
  const named = missing.slice(0, maxMissing).map((name) => [asName(name)]);
  return [...joinLines(named, ' '), ...(hidden > 0 ? [` and ${hidden} more`] : [])];
}
