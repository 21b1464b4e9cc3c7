import type { Notification } from './notification.ts';
import type { ToolCall } from './run.ts';
import type { WidgetObservation } from './widget.ts';

/**
 * One message of the transcript. Content is text or parts, as the AI SDK writes them. `server` asks its client for something, and
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
      /** The MCP CallToolResult verbatim, the error that came instead of one, or why the call was not made. */
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
  /** `request` is one of the client that calls no tool, and `client` one that the server makes of it. */
  category: 'step' | 'llm' | 'tool' | 'request' | 'client' | 'error';
  startMs: number;
  endMs: number;
  status?: 'ok' | 'error';
  promptIndex?: number;
  stepIndex?: number;
  authoredStepId?: string;
  toolCallId?: string;
  toolName?: string;
  /** Of a request, which its name has too. */
  mcpMethod?: string;
  resourceUri?: string;
  promptName?: string;
  mcpErrorCode?: number;
  /** Of a call of a model: that it judges the case, and takes no part in it. */
  role?: 'judge';
  modelId?: string;
  provider?: string;
  finishReason?: string;
  inputTokens?: number;
  outputTokens?: number;
  totalTokens?: number;
}

/** What the matcher and the turn's predicates made of one turn. */
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

/** `unmeasured` says that the evidence does not decide the check, which is neither a pass nor a failure. */
export type CheckState = 'passed' | 'failed' | 'unmeasured';

/** The outcome of one predicate, which changes no result where its own `role` is `advisory`: case-level ones first, then those of the turns. */
export interface PredicateResult {
  predicate: unknown;
  /** Whether the state is `passed`; readers of the API know this field alone. */
  passed: boolean;
  state: CheckState;
  reason: string;
  scope?: { kind: 'turn'; promptIndex: number };
}

/** Everything an iteration did, in the API's open envelope: readers tolerate missing parts and unknown ones. */
export interface Trace {
  messages: TraceMessage[];
  spans: TraceSpan[];
  prompts: TracePrompt[];
  /** How the apps of the tools that were called were shown, in order; absent where no browser could show any. */
  widgetRenderObservations?: WidgetObservation[];
  metadata?: {
    predicates?: PredicateResult[];
    /** What the server reported, oldest first. */
    notifications?: Notification[];
    /** How many more there were. */
    droppedNotifications?: number;
  };
}
