import type { SearchedTool } from '../base/rank-tools.ts';
import type { JsonObject } from '../base/json.ts';
import type { CheckState } from '../model/trace.ts';
import type { Evidence } from './evidence.ts';
import type { OwnCheck } from './own-check.ts';

/** The result of a check, with its reason as a clause. */
export interface Judgement {
  /** An `unmeasured` check leaves the iteration without a result, unless another check or step fails. */
  state: CheckState;
  /** One sentence without the predicate's name, such as `get-sum was called 2 times.` */
  reason: string;
  /**
   * Set for a check that fails without evidence from the transcript: the check is malformed, or nothing was measured. Negating it must not
   * make it pass.
   */
  failsClosed?: 'malformed' | 'unmeasured';
  /** What a failed check compared. */
  compared?: Compared;
}

/** What a check compared: two values, or the requirements on a value. `path` is the JSON Pointer of the value. */
export type Compared = { what: string; actual: unknown; path: string } & (
  | { kind: 'values'; expected: unknown }
  | { kind: 'requirements'; requirements: readonly string[] }
);

/** Makes a judgement of a measured fact. */
export function decide(isMet: boolean, reason: string): Judgement {
  return { state: isMet ? 'passed' : 'failed', reason };
}

/** Passes: the evidence shows what the check wants. */
export function pass(reason: string): Judgement {
  return { state: 'passed', reason };
}

/** Fails: the evidence shows that the server is wrong. `compared` is shown as a difference. */
export function fail(reason: string, compared?: Compared): Judgement {
  return { state: 'failed', reason, ...(compared !== undefined && { compared }) };
}

/** Fails a malformed check, whatever the evidence. */
export function refuse(reason: string): Judgement {
  return { state: 'failed', reason, failsClosed: 'malformed' };
}

/** Fails a check that the API defines as failed if nothing was measured. */
export function failUnmeasured(reason: string): Judgement {
  return { state: 'failed', reason, failsClosed: 'unmeasured' };
}

/** Leaves the iteration unscored: the evidence does not decide the check. */
export function leaveUnmeasured(reason: string): Judgement {
  return { state: 'unmeasured', reason };
}

/** The snapshots that results are compared with. */
export interface Snapshots {
  /** Returns the text of a file; null if the file does not exist. */
  read(file: string): string | null;
  /**
   * Records the text to write to a file, and returns the recorded text; the first result of a run wins. Null if snapshots are compared, not
   * updated.
   */
  update: ((file: string, text: string) => string) | null;
  /** Removes secrets from a JSON value. */
  redact(value: unknown): unknown;
}

/** Reads the apps that a server declares and serves. */
export interface AppReader {
  /** Lists the tools of the server; some have an app. */
  listTools(): Promise<ListedApps | Unread>;
  /** Returns the unchanged result of `resources/read`. */
  read(uri: string): Promise<{ kind: 'read'; result: unknown } | Unread>;
}

interface ListedApps {
  kind: 'list';
  /** The URI of each tool's app; null for a tool without an app. */
  apps: ReadonlyMap<string, string | null>;
  /** Returns a sentence which says that the server does not list a tool. */
  describeMissing(this: void, toolName: string): string;
}

/** The tools that a model is offered. */
export interface ToolCatalog {
  list(): Promise<ListedTools | Unread>;
}

interface ListedTools {
  kind: 'list';
  tools: readonly SearchedTool[];
  /** Returns a sentence which says that a tool is not offered. */
  describeMissing(this: void, toolName: string): string;
}

/** Why a read failed. `refused`: the server gave no usable answer. `unknown`: no answer arrived. `reason` is a sentence or a clause. */
type Unread = { kind: 'refused'; reason: string } | { kind: 'unknown'; reason: string };

/** The result of validating a value against a JSON Schema; each reason is a clause. `stopped` means that a limit was exceeded. */
export type SchemaFit =
  | { kind: 'valid' }
  | { kind: 'invalid'; mismatches: readonly string[] }
  | { kind: 'unusable'; reason: string }
  | { kind: 'stopped'; reason: string };

/** The services that judging uses in addition to the evidence. */
export interface CheckContext {
  schemas: {
    /** Returns a sentence about the first mistake in a schema; null if there is none. */
    findProblem(schema: JsonObject | boolean): string | null;
    fit(
      schema: JsonObject | boolean,
      value: unknown,
      options: { checksFormats?: boolean; namesClasses?: boolean },
    ): Promise<SchemaFit>;
  };
  /** Null if this service has no snapshots, for example because no gate started it. */
  snapshots: Snapshots | null;
  /** Replaces the parts of a value that patterns of `ignore` match. */
  exclude(this: void, value: unknown, patterns: readonly string[]): unknown;
  /** The checks of one's own that the gate knows, by name; null for none. */
  ownChecks: ReadonlyMap<string, OwnCheck> | null;
  /** Null if there is no session with a server. */
  apps: AppReader | null;
  /** Null if there is no session with a server. */
  tools: ToolCatalog | null;
  /** Waits until the condition holds, for at most `maxWaitMs`. The default is the time in which a notification may still arrive. */
  waitForNotification: ((isMet: () => boolean, maxWaitMs?: number) => Promise<void>) | null;
  /** Waits until the console output of all apps has arrived. */
  settleWidgets(): Promise<void>;
  /** Asks a model to judge the conversation. Null if no model is available. */
  askModel: ((question: ModelQuestion, evidence: Evidence) => Promise<Judgement>) | null;
  /** Stops judging once it aborts; null for no limit. */
  signal: AbortSignal | null;
}

/** The question to a model about a conversation. */
export interface ModelQuestion {
  rubric: string;
  /** `provider/name`. */
  model: string;
  /** The smallest score that passes; null if the model itself says whether the conversation passes. */
  threshold: number | null;
  isGating: boolean;
}
