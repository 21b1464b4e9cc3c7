import type { VerdictOutcome } from './verdict.ts';

/** The data of a gate that later gates use: one line of the history file. */
export interface HistoryRecord {
  /** The start of the gate, ISO 8601. */
  startedAt: string;
  commit: string | null;
  /** The branch, or `PR 12`; null if unknown. */
  branch: string | null;
  outcome: VerdictOutcome;
  /** The size of each tool in bytes, under the names of `listToolBytes`; missing if the surface was not compared. */
  toolBytes?: Record<string, number>;
  cases: HistoryCase[];
}

export interface HistoryCase {
  suiteId: string;
  id: string;
  passed: number;
  /** Scored iterations. */
  total: number;
  /** Scored iterations in which a recording gave an answer. */
  replayed: number;
  definitionHash: string | null;
  /** Median over the scored iterations, in milliseconds. */
  durationMs: number | null;
  /** The cost of the model calls of all its iterations; null if it is unknown or no model was called. */
  cost?: number | null;
}

/** A month of nightly runs, and the widest sparkline that fits a phone. */
export const maxTrendRuns = 30;
