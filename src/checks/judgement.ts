import type { JsonObject } from '../base/json.ts';
import type { CheckState } from '../model/trace.ts';
import type { Evidence } from './evidence.ts';

export interface Judgement {
  /** A check that is `unmeasured` leaves the iteration without a result, unless something else fails it. */
  state: CheckState;
  /** One sentence without the predicate's name, such as `get-sum was called 2 times.` */
  reason: string;
  /**
   * Set for a failed check of which the transcript says nothing: it cannot be read, or it fails where nothing was measured. Negating
   * it must not make it pass.
   */
  failsClosed?: 'malformed' | 'unmeasured';
}

/** The judgement of what was measured. */
export function decide(isMet: boolean, reason: string): Judgement {
  return { state: isMet ? 'passed' : 'failed', reason };
}

export function pass(reason: string): Judgement {
  return { state: 'passed', reason };
}

export function fail(reason: string): Judgement {
  return { state: 'failed', reason };
}

/** Fails a check that cannot be read, whatever happened. */
export function refuse(reason: string): Judgement {
  return { state: 'failed', reason, failsClosed: 'malformed' };
}

/** Fails a check that the API fails where nothing was measured. */
export function failUnmeasured(reason: string): Judgement {
  return { state: 'failed', reason, failsClosed: 'unmeasured' };
}

export function leaveUnmeasured(reason: string): Judgement {
  return { state: 'unmeasured', reason };
}

/** The snapshots that results are compared with. */
export interface Snapshots {
  /** The text of a file; null where there is none. */
  read(file: string): string | null;
  /**
   * Takes what a file is to hold from now on, and returns what it holds: that of the first result. Null where files are compared and
   * not written.
   */
  update: ((file: string, text: string) => string) | null;
  /** Removes secrets from JSON. */
  redact(value: unknown): unknown;
}

/** Reads what a server declares and serves as apps. */
export interface AppReader {
  /** The tools of the server, of which some have an app. */
  listTools(): Promise<ListedApps | Unread>;
  /** The result of `resources/read`, as it came. */
  read(uri: string): Promise<{ kind: 'read'; result: unknown } | Unread>;
}

interface ListedApps {
  kind: 'list';
  /** The URI of the app of each tool, null for a tool without one. */
  apps: ReadonlyMap<string, string | null>;
  /** Says that the server does not list a tool, one sentence. */
  describeMissing(this: void, toolName: string): string;
}

/** Why something was not read: the server gave no usable answer, or nothing is known of one; `reason` is a sentence. */
type Unread = { kind: 'refused'; reason: string } | { kind: 'unknown'; reason: string };

/** How a value fits a JSON Schema; the reasons are half sentences. `stopped` says that a limit was crossed. */
export type SchemaFit =
  | { kind: 'valid' }
  | { kind: 'invalid'; mismatches: readonly string[] }
  | { kind: 'unusable'; reason: string }
  | { kind: 'stopped'; reason: string };

/** What judging takes from outside: everything that is no function of the evidence. */
export interface CheckAids {
  schemas: {
    /** Finds the first mistake of a schema, one sentence. */
    findProblem(schema: JsonObject | boolean): string | null;
    fit(
      schema: JsonObject | boolean,
      value: unknown,
      options: { checksFormats?: boolean; namesClasses?: boolean },
    ): Promise<SchemaFit>;
  };
  /** Null where none are known, as in a service that a gate did not start. */
  snapshots: Snapshots | null;
  /** Replaces in a value what patterns of `ignore` exclude. */
  exclude(this: void, value: unknown, patterns: readonly string[]): unknown;
  /** Null where no server is at hand. */
  apps: AppReader | null;
  /** Waits until the condition holds, for at most `maxWaitMs`; unless given, for as long as a notification may be on its way. */
  waitForNotification: ((isMet: () => boolean, maxWaitMs?: number) => Promise<void>) | null;
  /** Waits until what the apps have written to their consoles is known. */
  settleWidgets(): Promise<void>;
  /** Has a model judge the conversation. Null where no model may be asked. */
  askModel: ((question: ModelQuestion, evidence: Evidence) => Promise<Judgement>) | null;
  /** Ends judging once it aborts. */
  signal: AbortSignal | null;
}

/** What a model is asked about a conversation. */
export interface ModelQuestion {
  rubric: string;
  /** `provider/name`. */
  model: string;
  /** The score from which it passes; null where the model says itself whether it passes. */
  threshold: number | null;
  isGating: boolean;
}
