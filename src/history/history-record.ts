import { z } from 'zod';
import type { HistoryRecord } from '../model/history.ts';
import type { Report } from '../model/report.ts';
import { escapeJson } from '../report/escape/json.ts';
import { listToolBytes } from '../report/surface-wording.ts';

/** Increased when a field changes its meaning; lines of another version are kept unchanged. */
const historyVersion = 1;

const recordSchema = z
  .object({
    v: z.literal(historyVersion),
    time: z.string(),
    commit: z.string().nullable(),
    branch: z.string().nullable(),
    verdict: z.enum(['passed', 'failed', 'inconclusive']),
    tools: z.record(z.string(), z.int().min(0)).exactOptional(),
    cases: z.array(
      z.object({
        suite: z.string(),
        id: z.string(),
        passed: z.int().min(0),
        total: z.int().min(0),
        replayed: z.int().min(0).exactOptional(),
        hash: z.string().nullable(),
        ms: z.number().min(0).nullable(),
        cost: z.number().min(0).exactOptional(),
      }),
    ),
  })
  .transform(({ time, commit, branch, verdict, tools, cases }): HistoryRecord => ({
    startedAt: time,
    commit,
    branch,
    outcome: verdict,
    ...(tools !== undefined && { toolBytes: tools }),
    cases: cases.map(({ suite, id, passed, total, replayed = 0, hash, ms, cost }) => {
      const spent = cost === undefined ? {} : { cost };
      return { suiteId: suite, id, passed, total, replayed, definitionHash: hash, durationMs: ms, ...spent };
    }),
  }));

/** Renders the history's record of a gate: one line of JSON without its line feed. */
export function renderHistoryLine({ startedAt, revision, verdict, surface, cases }: Report): string {
  const record: z.input<typeof recordSchema> = {
    v: historyVersion,
    time: startedAt,
    commit: revision?.commit ?? null,
    branch: revision?.branch ?? null,
    verdict: verdict.outcome,
    ...(surface?.unread === null && { tools: listToolBytes(surface) }),
    cases: cases.map(({ suiteId, id, passed, total, replayed, definitionHash, durationMs, cost }) => {
      const mark = replayed.total === 0 ? {} : { replayed: replayed.total };
      const spent = cost === null || cost === 0 ? {} : { cost };
      return { suite: suiteId, id, passed, total, ...mark, hash: definitionHash, ms: durationMs, ...spent };
    }),
  };
  return escapeJson(JSON.stringify(record));
}

/**
 * Reads a history file, oldest record first. A line that is no record of this version, such as the last one of a job that
 * was killed while it wrote, is skipped and counted.
 */
export function parseHistory(text: string): { records: HistoryRecord[]; skipped: number } {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const records = lines.flatMap((line) => {
    const parsed = recordSchema.safeParse(readJson(line));
    return parsed.success ? [parsed.data] : [];
  });
  return { records, skipped: lines.length - records.length };
}

function readJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
