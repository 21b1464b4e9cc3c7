import type { Notification } from './notification.ts';
import type { OutputLine } from './process-end.ts';
import type { ToolCall } from './run.ts';
import type { WidgetObservation } from './widget.ts';

/**
 * One message of the transcript. Content is text or parts, in the format of the AI SDK. The role `server` is a request to the client;
 * `client` is the answer.
 */
export interface TraceMessage {
  role: 'system' | 'user' | 'assistant' | 'tool' | 'server' | 'client';
  content: string | TracePart[];
}

export type TracePart =
  | { type: 'text'; text: string }
  | { type: 'tool-call'; toolCallId: string; toolName: string; input: unknown }
  | {
      type: 'tool-result';
      toolCallId: string;
      toolName: string;
      /** The unchanged MCP CallToolResult, the error that was returned instead, or the reason why the call was not made. */
      output:
        | { type: 'json'; value: unknown }
        | { type: 'error-text'; value: string }
        | { type: 'text'; value: string };
      isError?: boolean;
    };

/** A stretch of time inside an iteration, in epoch milliseconds. */
export interface TraceSpan {
  id: string;
  parentId?: string;
  name: string;
  /** `request` is a request of the client that is not a tool call; `client` is a request of the server to the client. */
  category: 'step' | 'llm' | 'tool' | 'request' | 'client' | 'error';
  startMs: number;
  endMs: number;
  status?: 'ok' | 'error';
  promptIndex?: number;
  stepIndex?: number;
  authoredStepId?: string;
  toolCallId?: string;
  toolName?: string;
  /** The method of a request; `name` contains it too. */
  mcpMethod?: string;
  resourceUri?: string;
  promptName?: string;
  mcpErrorCode?: number;
  /** Marks a call of a model that judges the case. */
  role?: 'judge';
  modelId?: string;
  provider?: string;
  finishReason?: string;
  inputTokens?: number;
  outputTokens?: number;
  totalTokens?: number;
}

/** The result of matching one turn: its tool calls and its predicates. */
export interface TracePrompt {
  promptIndex: number;
  prompt: string;
  expectedToolCalls: ToolCall[];
  actualToolCalls: ToolCall[];
  passed: boolean;
  missing: ToolCall[];
  unexpected: ToolCall[];
  argumentMismatches: Array<{ expected: ToolCall; actual: ToolCall }>;
}

/** `unmeasured` means that the evidence does not decide the check. It is neither a pass nor a failure. */
export type CheckState = 'passed' | 'failed' | 'unmeasured';

/**
 * The outcome of one predicate. It changes no result if its `role` is `advisory`. Predicates of the case come first, then those of the
 * turns.
 */
export interface PredicateResult {
  predicate: unknown;
  /** True if the state is `passed`. Readers of the API know only this field. */
  passed: boolean;
  state: CheckState;
  reason: string;
  scope?: { kind: 'turn'; promptIndex: number };
}

/** Everything an iteration did, in the API's open envelope: readers accept missing and unknown parts. */
export interface Trace {
  messages: TraceMessage[];
  spans: TraceSpan[];
  prompts: TracePrompt[];
  /** How the app of each called tool was shown, in order; absent if no browser was available. */
  widgetRenderObservations?: WidgetObservation[];
  metadata?: {
    predicates?: PredicateResult[];
    /** The notifications of the server, oldest first. */
    notifications?: Notification[];
    /** The number of further notifications that were not kept. */
    droppedNotifications?: number;
    /** What the servers wrote to stderr, by time, if the iteration did not pass. */
    serverOutput?: readonly OutputLine[];
  };
}
