import { formatCount } from '../../base/text.ts';
import type { Findings } from '../../base/findings.ts';
import type { HistoryRecord } from '../../model/history.ts';
import type { ShardReport } from '../../model/report.ts';
import { hashDefinition } from '../../suite/definition-hash.ts';
import { assignShards } from '../../suite/select.ts';
import { digestCut } from '../../verdict/shard-digest.ts';
import type { FileSuite } from './plan-suites.ts';

interface PlannedCase {
  key: string;
  suiteId: string;
  id: string;
  runs: number;
  definitionHash: string;
}

/**
 * Keeps the cases of one shard. Every job must get the same assignment, so it depends only on the evals files, the options and the history;
 * the digest shows whether it was the same.
 */
export function planShard(
  suites: readonly FileSuite[],
  { index, total }: { index: number; total: number },
  records: readonly HistoryRecord[],
  findings: Findings,
): { suites: FileSuite[]; shard: ShardReport } {
  const cases = suites.flatMap(({ suite }) =>
    suite.cases.map((item) => {
      const { id, runs } = item;
      return { key: keyOf(suite.id, id), suiteId: suite.id, id, runs, definitionHash: hashDefinition(item, suite) };
    }),
  );
  if (cases.length > 0 && cases.length < total) {
    const message = `cuts ${formatCount(cases.length, 'case')} into ${total} shards, and some would be empty; use at most ${cases.length}`;
    findings.add({ input: 'shard', code: 'too-many-shards', message });
  }
  const shards = assignShards(weighCases(cases, records), total);
  const own = suites
    .map((planned) => {
      const selected = planned.suite.cases.filter(({ id }) => shards.get(keyOf(planned.suite.id, id)) === index);
      const others = planned.suite.cases.filter((item) => !selected.includes(item));
      // The cases of other shards still exist, and are judged there.
      const { requirements } = planned;
      const isOwn = (name: string) => !others.some(({ id }) => id === name);
      return {
        ...planned,
        suite: { ...planned.suite, cases: selected },
        requirements: {
          ...requirements,
          cases: requirements.cases.filter(({ name }) => isOwn(name)),
          required: requirements.required.filter(({ name }) => isOwn(name)),
          quarantine: requirements.quarantine.filter((entry) => isOwn(entry.case)),
        },
      };
    })
    .filter(({ suite }) => suite.cases.length > 0);
  const digest = digestCut(cases.map((item) => ({ ...item, shard: shards.get(item.key) ?? 0 })));
  return { suites: own, shard: { index, total, digest } };
}

/** Weighs each case by its last duration; a case that never ran by the median duration. */
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

function keyOf(suiteId: string, caseId: string): string {
  return `${suiteId}/${caseId}`;
}
