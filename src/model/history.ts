import type { VerdictOutcome } from './verdict.ts';

/** What is kept of a gate for the gates after it: one line of the history file. */
export interface HistoryRecord {
  /** When it started, ISO 8601. */
  startedAt: string;
  commit: string | null;
  /** The branch, or `PR 12`; null where it is not known. */
  branch: string | null;
  outcome: VerdictOutcome;
  /** What each tool took, as `listToolBytes` names it; missing where the surface was not compared. */
  toolBytes?: Record<string, number>;
  cases: HistoryCase[];
}

export interface HistoryCase {
  suiteId: string;
  id: string;
  passed: number;
  /** Scored iterations. */
  total: number;
  /** Those of the scored iterations in which a recording answered. */
  replayed: number;
  definitionHash: string | null;
  /** Median over the scored iterations, in milliseconds. */
  durationMs: number | null;
  /** Of the model calls of its iterations together; null where it is not known, or nothing was called. */
  cost?: number | null;
}

/** A month of nights, and as wide as a sparkline can be on a phone. */
export const maxTrendRuns = 30;
