import { hash } from 'node:crypto';
import { formatCount } from '../../base/count.ts';
import type { ConfigurationIssue } from '../../base/errors.ts';
import type { HistoryRecord } from '../../model/history.ts';
import type { ShardReport } from '../../model/report.ts';
import { hashDefinition } from '../../suite/definition.ts';
import { assignShards } from '../../suite/shard.ts';
import type { FileSuite } from './plan-suites.ts';

interface PlannedCase {
  key: string;
  runs: number;
  definitionHash: string;
}

/**
 * Keeps of the suites the cases of one shard. Every job must come to the same assignment, so that it depends on the evals
 * files, the options and the history alone; the digest tells whether they did.
 */
export function planShard(
  suites: readonly FileSuite[],
  { index, total }: { index: number; total: number },
  { records, issues }: { records: readonly HistoryRecord[]; issues: ConfigurationIssue[] },
): { suites: FileSuite[]; shard: ShardReport } {
  const cases = suites.flatMap(({ suite }) =>
    suite.cases.map((item) => {
      return { key: keyOf(suite.id, item.id), runs: item.runs, definitionHash: hashDefinition(item, suite) };
    }),
  );
  if (cases.length > 0 && cases.length < total) {
    const message = `cuts ${formatCount(cases.length, 'case')} into ${total} shards, and some would be empty; use at most ${cases.length}`;
    issues.push({ input: 'shard', code: 'too-many-shards', message });
  }
  const shards = assignShards(weighCases(cases, records), total);
  const own = suites
    .map((planned) => {
      const selected = planned.suite.cases.filter(({ id }) => shards.get(keyOf(planned.suite.id, id)) === index);
      const others = planned.suite.cases.filter((item) => !selected.includes(item));
      // The cases of other shards are not gone.
      const quarantine = planned.demands.quarantine.filter((entry) => !others.some(({ id }) => entry.case === id));
      return { ...planned, suite: { ...planned.suite, cases: selected }, demands: { ...planned.demands, quarantine } };
    })
    .filter(({ suite }) => suite.cases.length > 0);
  return { suites: own, shard: { index, total, digest: digestShards(cases, shards) } };
}

/** A case takes as long as it did the last time; one that never ran takes as long as most do. */
function weighCases(
  cases: readonly PlannedCase[],
  records: readonly HistoryRecord[],
): Array<{ key: string; weight: number }> {
  const durations = new Map<string, number>();
  for (const { suiteId, id, durationMs } of records.flatMap((record) => record.cases)) {
    if (durationMs !== null) durations.set(keyOf(suiteId, id), Math.max(1, durationMs));
  }
  const known = cases.flatMap(({ key }) => durations.get(key) ?? []).toSorted((a, b) => a - b);
  const usual = known[Math.floor(known.length / 2)] ?? 1;
  return cases.map(({ key, runs }) => ({ key, weight: runs * (durations.get(key) ?? usual) }));
}

function digestShards(cases: readonly PlannedCase[], shards: ReadonlyMap<string, number>): string {
  const lines = cases.map(({ key, runs, definitionHash }) => `${key} ${runs} ${definitionHash} ${shards.get(key)}`);
  return hash('sha256', lines.toSorted().join('\n')).slice(0, 16);
}

function keyOf(suiteId: string, caseId: string): string {
  return `${suiteId}/${caseId}`;
}
