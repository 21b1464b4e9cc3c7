import type { JsonObject } from '../base/json.ts';
import type { Ability, ClientRequest } from '../model/client-abilities.ts';
import type { Notification } from '../model/notification.ts';
import type { ToolCall } from '../model/run.ts';
import type { TraceMessage } from '../model/trace.ts';
import type { WidgetObservation } from '../model/widget.ts';

/** The evidence on which the assertions of a case are judged: the transcript so far, in chronological order. */
export interface Evidence {
  toolCalls: readonly ToolCall[];
  toolResults: readonly ToolResult[];
  /** The answers to requests other than tool calls. */
  replies: readonly Reply[];
  /** The tools that the server lists, by name; null if no list was captured. */
  tools: ReadonlyMap<string, ToolDefinition> | null;
  /** The conversation, including pinned calls. Empty if it was not captured. */
  messages: readonly TraceMessage[];
  /** The notifications of the server, and the number of further ones that were not kept; null if not captured. */
  notifications: { entries: readonly Notification[]; dropped: number } | null;
  /** The apps that were shown, in order; null if no browser was available. */
  widgets: readonly WidgetObservation[] | null;
  /** The text of the last assistant message. Empty if that message only calls tools, or if no model took part. */
  finalAssistantMessage: string;
  /** The provider's statement that the model refused its latest answer; null if there is none. */
  refusal: string | null;
  /** The number of user messages; 0 in a case that only calls tools. */
  userMessages: number;
  /** The requests of the server to its client, by ability, in order. An ability without a key was not offered. Null if not captured. */
  clientRequests: Readonly<Partial<Record<Ability, readonly ClientRequest[]>>> | null;
  /** Input and output tokens of all model turns; null if not measured. */
  tokensUsed: number | null;
  /**
   * One sentence that says why the transcript ends early, such as that a recording is stale; null if it is complete. The rest of a cut
   * transcript is unknown, so a check is decided only if nothing in that rest could change its state.
   */
  cutReason: string | null;
}

/** The states that stay the same however a cut transcript continues. */
export type FinalStates = 'none' | 'passed' | 'failed' | 'both';

/** The evidence of an iteration in which nothing happened. */
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

/** Copies the evidence as plain data, which the copy's owner may change or send elsewhere. */
export function copyEvidence(evidence: Evidence): Evidence {
  const { toolCalls, toolResults, replies, tools, messages, notifications, widgets } = evidence;
  const { finalAssistantMessage, refusal, userMessages, clientRequests, tokensUsed, cutReason } = evidence;
  return structuredClone({
    toolCalls,
    toolResults,
    replies,
    tools,
    messages,
    notifications: notifications && { entries: notifications.entries, dropped: notifications.dropped },
    widgets,
    finalAssistantMessage,
    refusal,
    userMessages,
    clientRequests,
    tokensUsed,
    cutReason,
  });
}

/** The declaration of a tool by the server, with the parts that checks read. */
export interface ToolDefinition {
  description: string | null;
  inputSchema: JsonObject;
  /** Null if the tool declares none. */
  annotations: JsonObject | null;
}

/** The result of one tool call. */
export interface ToolResult {
  toolName: string;
  /** The arguments of the call; null if they were not captured. */
  arguments: JsonObject | null;
  /** The text blocks of the result, one per line; or the message of the error that was returned instead. */
  text: string;
  /** Undefined if the result has none. */
  structuredContent: unknown;
  /** The blocks of the result, empty for an error that was returned instead; null if they were not captured. */
  content: readonly JsonObject[] | null;
  /** The code of the JSON-RPC error that was returned instead of a result; null if there is none. */
  errorCode: number | null;
  /** The size of the result as JSON, before it is cut for storage; null if it was not measured. */
  sizeBytes: number | null;
  /** True if the tool reported an error (`isError`), or the server answered with a JSON-RPC error. */
  isError: boolean;
  /** One sentence that says why this counts as a tool error; null if it does not. */
  toolError: string | null;
  /** Null if it was not measured. */
  latencyMs: number | null;
  /** True if the server lists the tool; null if unknown. */
  isListed: boolean | null;
}

/** The result of a request that is not a tool call. */
export interface Reply {
  kind: 'resource' | 'prompt' | 'completion' | 'list';
  /** The URI of the resource, the name of the prompt, the completed argument, or the method of the list. */
  subject: string;
  /** The texts of the contents or messages, or the completed values, one per line; or the message of the error. */
  text: string;
  /** Undefined for a resource; its text may be JSON. */
  structuredContent: unknown;
  /** The MIME types of a resource's contents; null for contents that declare none. */
  mimeTypes: ReadonlyArray<string | null>;
  /** The error that was returned instead. Its `code` is null if the error has none; the whole field is null for a result. */
  error: { code: number | null; message: string } | null;
  latencyMs: number;
}

/** Lists the calls of a tool, or all calls. */
export function listCalls({ toolCalls }: Evidence, toolName: string | undefined): readonly ToolCall[] {
  return toolName === undefined ? toolCalls : toolCalls.filter((call) => call.toolName === toolName);
}
