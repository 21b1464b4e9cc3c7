import type { ToolList } from '../mcp/tool-declarations.ts';
import type { Check, CheckByType } from '../checks/assertion.ts';
import type { JsonObject } from '../base/json.ts';
import type { Ability, ClientRequest } from '../model/client-abilities.ts';
import type { ToolCall } from '../model/run.ts';
import type { Notification } from '../model/notification.ts';
import type { CheckState, TraceMessage } from '../model/trace.ts';
import type { WidgetAssertion, WidgetObservation } from '../model/widget.ts';
import type { ModelAnswer, ModelCall, ModelName } from '../models/language-model.ts';
import type { SchemaBudget } from './schema-check.ts';
import type { StepOutcome } from './step-outcome.ts';

/** What the assertions of a case are judged on: the transcript so far, in the order in which it happened. */
export interface Evidence {
  toolCalls: readonly ToolCall[];
  toolResults: readonly ToolResult[];
  /** What came back from requests other than tool calls. */
  replies: readonly Reply[];
  /** The tools that the server lists, by name; null if no list was captured. */
  tools: ReadonlyMap<string, ToolDefinition> | null;
  /** The conversation, with the pinned calls. Empty where it was not captured. */
  messages: readonly TraceMessage[];
  /** What the server reported, and how much more than was kept; null if it was not captured. */
  notifications: { entries: readonly Notification[]; dropped: number } | null;
  /** The apps that were shown, in order; null where no browser could show any. */
  widgets: readonly WidgetObservation[] | null;
  /** Text of the last assistant message; empty where that one only calls tools, and where no model took part. */
  finalAssistantMessage: string;
  /** How the provider says that the model refused its latest answer; null where it does not say so. */
  refusal: string | null;
  /** Messages of the user; a case that only calls tools has none. */
  userMessages: number;
  /**
   * What the server asked its client for, by ability, in order; an ability without a key was not offered. Null where it was not
   * captured.
   */
  clientRequests: Readonly<Partial<Record<Ability, readonly ClientRequest[]>>> | null;
  /** Input and output tokens of all model turns; null where nothing measured them. */
  tokensUsed: number | null;
  /**
   * Why the transcript ends before the iteration would have, one sentence, such as that a recording went stale; null if it does not. What
   * would have followed is unknown, so that a check is decided only where nothing that follows could change it.
   */
  cutReason: string | null;
}

/** Of an iteration in which nothing happened. */
export const emptyEvidence: Evidence = {
  toolCalls: [],
  toolResults: [],
  replies: [],
  tools: null,
  messages: [],
  finalAssistantMessage: '',
  refusal: null,
  userMessages: 0,
  clientRequests: null,
  tokensUsed: null,
  notifications: null,
  widgets: null,
  cutReason: null,
};

/** What a server declares about a tool, as far as checks ask for it. */
export interface ToolDefinition {
  description: string | null;
  inputSchema: JsonObject;
  /** Null where the tool declares none. */
  annotations: JsonObject | null;
}

/** What one tool call came to. */
export interface ToolResult {
  toolName: string;
  /** Of the call; null if they were not captured. */
  arguments: JsonObject | null;
  /** The text blocks of the result, one per line, or the message of the error that came instead of a result. */
  text: string;
  /** Undefined where the result carries none. */
  structuredContent: unknown;
  /** The blocks of the result, none for an error that came instead of one; null if they were not captured. */
  content: readonly unknown[] | null;
  /** Of the JSON-RPC error that came instead of a result; null where there is none. */
  errorCode: number | null;
  /** Of the result as JSON, before anything is cut for storage; null if it was not measured. */
  sizeBytes: number | null;
  /** Whether the tool said so (`isError`), or the server answered with a JSON-RPC error. */
  isError: boolean;
  /** Why this counts as a tool error, one sentence; null for a good result. */
  toolError: string | null;
  /** Null if it was not measured. */
  latencyMs: number | null;
  /** Whether the server lists the tool; null if unknown. */
  isListed: boolean | null;
}

/** What a request came to that is no tool call. */
export interface Reply {
  kind: 'resource' | 'prompt' | 'completion' | 'list';
  /** The URI of the resource, the name of the prompt, the argument that was completed, or the method of the list. */
  subject: string;
  /** The texts of the contents or messages, or the completed values, one per line; the message of an error. */
  text: string;
  /** Undefined for a resource, of which its text may be JSON. */
  structuredContent: unknown;
  /** Of the contents of a resource; null where one declares none. */
  mimeTypes: ReadonlyArray<string | null>;
  /** The error that came instead; its code is null where it has none. */
  error: { code: number | null; message: string } | null;
  latencyMs: number;
}

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

/**
 * Makes one call of a judge.
 *
 * @throws {ModelError} where there is no answer
 * @throws the reason of the signal once it aborts
 */
export type AskJudge = (model: ModelName, call: ModelCall) => Promise<ModelAnswer>;

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

/** Hears what the calls of judges come to. */
export interface JudgeLog {
  /** Notes that a judge is asked now. The function that it returns takes the answer. */
  beginCall(judge: { model: ModelName; isGating: boolean }): (answer: ModelAnswer) => void;
  /** Hears why no iteration of the run can have a result. */
  stopRun(reason: string): void;
}

/** Reads what a server declares and serves as apps. */
export interface AppReader {
  listTools(): Promise<{ kind: 'list'; list: ToolList } | Unread>;
  /** The result of `resources/read`, as it came. */
  read(uri: string): Promise<{ kind: 'read'; result: unknown } | Unread>;
}

/** Why something was not read: the server gave no usable answer, or nothing is known of one; `reason` is a sentence. */
type Unread = { kind: 'refused'; reason: string } | { kind: 'unknown'; reason: string };

/** The apps that an iteration shows. */
export interface ShownWidgets {
  /** Judges an assertion on the elements of an app, for which it waits. */
  assert(assertion: WidgetAssertion): Promise<StepOutcome>;
  /** Waits until what the apps have written to their consoles is known. */
  settle(): Promise<void>;
}

/** What judging may take in addition to the evidence. */
export interface JudgingAids extends SchemaBudget {
  /** Null where no model may be asked. */
  askJudge?: AskJudge | null;
  /** Null where none are known, as in a service that a gate did not start. */
  snapshots?: Snapshots | null;
  /** Null where no server is at hand. */
  apps?: AppReader | null;
  /** Waits until the condition holds, for at most `maxWaitMs`; unless given, for as long as a notification may be on its way. */
  waitForNotification?: ((isMet: () => boolean, maxWaitMs?: number) => Promise<void>) | null;
  /** Null where no app is shown. */
  widgets?: ShownWidgets | null;
  judgeLog?: JudgeLog;
}

/** How each type of check is judged. */
export type Judgements<Types extends Check['type'] = Check['type']> = {
  [Type in Types]: (
    check: CheckByType[Type],
    evidence: Evidence,
    aids: JudgingAids | undefined,
  ) => Judgement | Promise<Judgement>;
};
