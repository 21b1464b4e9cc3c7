import { createHash } from 'node:crypto';
import type { VerdictOutcome } from '../../model/verdict.ts';

/** Which run of a workflow it is, in an order that re-runs do not change. */
export interface RunStamp {
  id: string;
  /** Counts the runs of the workflow. */
  number: number;
  /** Counts the times that this run was started. */
  attempt: number;
}

/** What a comment or an issue says of itself where no reader sees it. */
export interface Marker {
  /** Equal for those that stand for the same thing, such as a job. */
  key: string;
  run: RunStamp;
  outcome: VerdictOutcome;
}

/** Makes a key of what tells one thing from every other one of the repository. */
export function buildKey(parts: ReadonlyArray<string | null>): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16);
}

/** Renders the first line of a text, which GitHub does not show. Holds no text of anybody else. */
export function renderMarker({ key, run, outcome }: Marker): string {
  return `<!-- mcp-eval-ci key=${key} run=${run.id} number=${run.number} attempt=${run.attempt} verdict=${outcome} -->`;
}

const marker =
  /^<!-- mcp-eval-ci key=([0-9a-f]{16}) run=(\d{1,20}) number=(\d{1,15}) attempt=(\d{1,6}) verdict=(passed|failed|inconclusive) -->/;

/** Reads a marker at the very beginning of a text; null where there is none. Anywhere else it is a quotation. */
export function parseMarker(body: string): Marker | null {
  const [, key, id, number, attempt, verdict] = marker.exec(body) ?? [];
  if (key === undefined || id === undefined) return null;
  const outcome = verdict === 'passed' || verdict === 'failed' ? verdict : 'inconclusive';
  return { key, run: { id, number: Number(number), attempt: Number(attempt) }, outcome };
}

/** Whether a run was started after another one of the same workflow. Run again, an old one stays older than a newer one. */
export function isNewerRun(one: RunStamp, other: RunStamp): boolean {
  return one.number === other.number ? one.attempt > other.attempt : one.number > other.number;
}
