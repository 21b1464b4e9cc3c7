import type { Baseline } from '../model/comparison.ts';
import { type HistoryRecord, maxTrendRuns } from '../model/history.ts';
import type { Trend } from '../model/report.ts';

/** Picks the last gates of a branch, to show the trend of the server. */
export function buildTrend(records: readonly HistoryRecord[], branch: string | null): Trend {
  const runs = records
    .filter((record) => record.branch === branch)
    .slice(-maxTrendRuns)
    .map(({ startedAt, commit, outcome, toolBytes, cases }) => ({
      startedAt,
      commit,
      outcome,
      cases: cases.length,
      total: cases.reduce((sum, { total }) => sum + total, 0),
      passed: cases.reduce((sum, { passed }) => sum + passed, 0),
      ...(toolBytes !== undefined && { toolBytes }),
    }));
  return { branch, runs };
}

/**
 * Finds the newest conclusive gate of a branch (`branch:main`) or a commit (`commit:` and at least seven digits of its hash); undefined if
 * there is none.
 */
export function findInHistory(records: readonly HistoryRecord[], source: string): Baseline | undefined {
  const [, kind, name = ''] = historySource.exec(source) ?? [];
  const found = records.findLast(
    ({ outcome, branch, commit }) =>
      outcome !== 'inconclusive' && (kind === 'branch' ? branch === name : commit?.startsWith(name) === true),
  );
  if (found === undefined) return undefined;
  const { startedAt, commit, branch, cases } = found;
  return {
    source,
    startedAt,
    commit,
    branch,
    cases: cases.map((testCase) => ({ ...testCase, title: null })),
  };
}

/** The form in which a baseline names a gate of the history; everything else is a path. */
export const historySource = /^(branch|commit):(.+)$/;
