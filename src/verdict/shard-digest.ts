import { hash } from 'node:crypto';
import type { Report } from '../model/report.ts';

/** A case, as the digest of a cut includes it. */
export interface CutCase {
  suiteId: string;
  id: string;
  /** The iterations in the plan. */
  runs: number;
  definitionHash: string;
  /** The number of the shard, from 1. */
  shard: number;
}

/** Digests how cases are cut into shards: equal for every job that has the same cases and cuts them in the same way. */
export function digestCut(cases: readonly CutCase[]): string {
  const lines = cases.map(
    ({ suiteId, id, runs, definitionHash, shard }) => `${suiteId}/${id} ${runs} ${definitionHash} ${shard}`,
  );
  return hash('sha256', lines.toSorted().join('\n')).slice(0, 16);
}

/** Does the same from the reports of all shards. Every case of a shard has a definition; a case without one makes a digest that no gate states. */
export function digestReports(reports: readonly Report[]): string {
  return digestCut(
    reports.flatMap(({ shard, cases }) =>
      cases.map(({ suiteId, id, planned, definitionHash }) => {
        return { suiteId, id, runs: planned, definitionHash: definitionHash ?? '', shard: shard?.index ?? 0 };
      }),
    ),
  );
}
