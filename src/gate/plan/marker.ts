import { createHash } from 'node:crypto';
import type { Repository } from '../../github/repository.ts';
import type { VerdictOutcome } from '../../model/verdict.ts';

/** Identifies a run of a workflow, in an order that re-runs do not change. */
export interface RunStamp {
  id: string;
  /** Counts the runs of the workflow. */
  number: number;
  /** Counts the times that this run was started. */
  attempt: number;
}

/** The data that a comment or an issue holds about itself, hidden from readers. */
export interface Marker {
  /** Equal for texts about the same thing, such as a job. */
  key: string;
  run: RunStamp;
  outcome: VerdictOutcome;
}

/** Makes a key from the parts that distinguish one thing from every other one of the repository. */
export function buildKey(parts: ReadonlyArray<string | null>): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16);
}

/**
 * Renders the first line of a text, which GitHub does not show. It holds no foreign text. `location` names where the text is, by
 * `nameComments` or `nameIssues`: a marker that is copied elsewhere is invalid.
 */
export function renderMarker(marker: Marker, location: string): string {
  const { key, run, outcome } = marker;
  const digest = digestMarker(marker, location);
  return `<!-- mcp-eval-ci key=${key} run=${run.id} number=${run.number} attempt=${run.attempt} verdict=${outcome} digest=${digest} -->`;
}

/** Names the location of the comments of a pull request. */
export function nameComments({ owner, repo }: Repository, pullNumber: number): string {
  return `${owner}/${repo}#${pullNumber}`;
}

/** Names the location of the issues of a repository. */
export function nameIssues({ owner, repo }: Repository): string {
  return `${owner}/${repo} issues`;
}

/**
 * Binds a marker to its location. It is no signature: jobs share no secret that a later job could verify, since each has its own token.
 * GitHub says who wrote a text and which run is newer.
 */
function digestMarker({ key, run, outcome }: Marker, location: string): string {
  const parts = [location.toLowerCase(), key, run.id, run.number, run.attempt, outcome];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32);
}

const marker =
  /^<!-- mcp-eval-ci key=([0-9a-f]{16}) run=(\d{1,20}) number=(\d{1,15}) attempt=(\d{1,6}) verdict=(passed|failed|inconclusive) digest=([0-9a-f]{32}) -->/;

/** Reads a marker at the very beginning of a text; null if there is none of this location. Anywhere else it is a quotation. */
export function parseMarker(body: string, location: string): Marker | null {
  const [, key, id, number, attempt, verdict, digest] = marker.exec(body) ?? [];
  if (key === undefined || id === undefined) return null;
  const outcome: VerdictOutcome = verdict === 'passed' || verdict === 'failed' ? verdict : 'inconclusive';
  const found = { key, run: { id, number: Number(number), attempt: Number(attempt) }, outcome };
  return digestMarker(found, location) === digest ? found : null;
}

/** Checks if a run was started after another one of the same workflow. A re-run of an old run stays older than a newer run. */
export function isNewerRun(one: RunStamp, other: RunStamp): boolean {
  return one.number === other.number ? one.attempt > other.attempt : one.number > other.number;
}
