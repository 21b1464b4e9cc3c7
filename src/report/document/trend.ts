import { formatCount } from '../../base/text.ts';
import { maxTrendRuns } from '../../model/history.ts';
import type { Report, Trend, TrendRun } from '../../model/report.ts';
import { computePassRate, formatPassRate } from '../../model/rate.ts';
import { asCode, asName, type Block, heading, type Line, table } from './block.ts';

const levels = ['▁', '▂', '▃', '▄', '▅', '▆', '▇'] as const;
const maxRows = 10;

/**
 * Draws the pass rates of gates, the oldest first. Only a gate in which everything passed gets the full block, so that a single failure
 * among a thousand is visible; an inconclusive gate is a dot.
 */
export function renderSparkline(runs: ReadonlyArray<Pick<TrendRun, 'outcome' | 'passed' | 'total'>>): string {
  return runs
    .map(({ outcome, passed, total }) => {
      if (outcome === 'inconclusive' || total === 0) return '·';
      return passed === total ? '█' : (levels[Math.floor((passed / total) * levels.length)] ?? '▁');
    })
    .join('');
}

/** Lists the trend with this gate at its end; null without a history, and if it has no gate of this branch yet. */
export function listTrendRuns({
  trend,
  startedAt,
  revision,
  verdict,
  cases,
}: Pick<Report, 'trend' | 'startedAt' | 'revision' | 'verdict' | 'cases'>): TrendRun[] | null {
  if (trend === null || trend.runs.length === 0) return null;
  const own: TrendRun = {
    startedAt,
    commit: revision?.commit ?? null,
    outcome: verdict.outcome,
    cases: cases.length,
    // Counts as the history does, including cases that did not count, or that count by a later round.
    total: cases.reduce((sum, { total }) => sum + total, 0),
    passed: cases.reduce((sum, { passed }) => sum + passed, 0),
  };
  return [...trend.runs, own].slice(-maxTrendRuns);
}

/** Names the branch of these gates, as plain foreign text. */
export function nameTrend({ branch }: Trend): string {
  return branch ?? 'no branch';
}

/** Composes how earlier gates of the branch ended. */
export function composeTrend(report: Parameters<typeof listTrendRuns>[0]): Block[] {
  const runs = listTrendRuns(report);
  if (runs === null || report.trend === null) return [];
  const lead = `${renderSparkline(runs)} ${formatCount(runs.length, 'gate')} on `;
  return [
    heading('screen', ['Trend'], [[lead, asName(nameTrend(report.trend)), ', this one last']]),
    table(
      'full',
      ['When', 'Commit', 'Verdict', 'Passed', 'Cases'],
      runs.slice(-maxRows).toReversed().map(describeRun),
      {
        noun: 'gate',
      },
    ),
  ];
}

function describeRun({ startedAt, commit, outcome, passed, total, cases }: TrendRun): Line[] {
  const when = /^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(startedAt) ? startedAt.slice(0, 16).replace('T', ' ') : '–';
  const hash = commit !== null && /^[0-9a-f]{7,64}$/.test(commit) ? asCode(commit.slice(0, 7)) : '–';
  const rate = outcome === 'inconclusive' ? '' : ` (${formatPassRate(computePassRate(passed, total))})`;
  return [[when], [hash], [outcome], [`${passed} of ${total}${rate}`], [String(cases)]];
}
