import type { JsonObject } from '../base/json.ts';
import type { Ability, ClientRequest } from '../model/client-abilities.ts';
import type { Notification } from '../model/notification.ts';
import type { ToolCall } from '../model/run.ts';
import type { TraceMessage } from '../model/trace.ts';
import type { WidgetObservation } from '../model/widget.ts';

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

/** The calls of a tool, or all of them. */
export function listCalls({ toolCalls }: Evidence, toolName: string | undefined): readonly ToolCall[] {
  return toolName === undefined ? toolCalls : toolCalls.filter((call) => call.toolName === toolName);
}
