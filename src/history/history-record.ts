import { z } from 'zod';
import { isRecord } from '../base/json.ts';
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

/** The records of a history file, and the lines that are none. */
interface ParsedHistory {
  /** Oldest first. */
  records: HistoryRecord[];
  skipped: number;
  /** The first line that was skipped, counted from 1; `why` completes "the line …". */
  firstSkipped: { line: number; why: string } | null;
}

/**
 * Reads a history file. A line that is no record of this version, such as the last one of a job that was killed while it wrote, is skipped
 * and counted.
 */
export function parseHistory(text: string): ParsedHistory {
  const parsed: ParsedHistory = { records: [], skipped: 0, firstSkipped: null };
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const value = readJson(line);
    const record = recordSchema.safeParse(value);
    if (record.success) {
      parsed.records.push(record.data);
      continue;
    }
    parsed.skipped += 1;
    parsed.firstSkipped ??= { line: index + 1, why: explainSkipped(value) };
  }
  return parsed;
}

function explainSkipped(value: unknown): string {
  const version = isRecord(value) ? value['v'] : undefined;
  if (typeof version === 'number' && version !== historyVersion)
    return `has version ${version} of the format, and this program reads version ${historyVersion}`;
  return value === undefined ? 'is no JSON' : 'is no record of a gate';
}

function readJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
