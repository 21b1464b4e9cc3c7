import { isRecord, listRecords } from '../base/json.ts';

/** A tool call as a service's trace records it. */
export interface TracedCall {
  toolName: string | null;
  /** Null if the trace has no arguments that are an object. */
  arguments: Record<string, unknown> | null;
  /** Null if the trace has no readable result of the call. */
  output: ToolOutput | null;
  /** The position among the calls in the order in which they were made. Calls that appear only as a result or a span come last. */
  callOrder: number;
  /** The code of the JSON-RPC error that was returned instead of a result; null if none is recorded. */
  errorCode: number | null;
  /** The time from the call to its answer; null if not measured. */
  latencyMs: number | null;
  /** The step that made the call or prompted the model to make it; null if the trace does not say. */
  stepId: string | null;
  /** The turn of the call, counted from 0; null if the trace does not say. */
  promptIndex: number | null;
}

/** The parts of a trace that assertions read. */
export interface TraceRecord {
  /** In the order of their results; calls without a result come last. */
  calls: TracedCall[];
  /** The tools that the trace lists as called in its turns, even if it does not show the calls. */
  namedTools: string[];
  /** The text of the last message of the model; empty if that message only calls tools, or if there is none. */
  finalAssistantMessage: string;
  userMessages: number;
}

/** A call before its span is found. */
interface CallRecord extends Pick<TracedCall, 'toolName' | 'arguments' | 'output' | 'callOrder'> {
  toolCallId: string | null;
}

/**
 * Reads the tool calls of a trace. Any part may be missing or malformed; unreadable parts count as absent. Null if there are no messages.
 */
export function readTrace(trace: unknown): TraceRecord | null {
  if (!isRecord(trace) || !Array.isArray(trace['messages'])) return null;
  const spans = listRecords(trace['spans']);
  const messages = listRecords(trace['messages']);
  const records = readMessages(messages);
  const known = new Set(records.map(({ toolCallId }) => toolCallId));
  // Adds calls that appear only as a span, because they were made too.
  for (const span of spans) {
    const toolCallId = readText(span['toolCallId']);
    if (span['category'] !== 'tool' || toolCallId === null || known.has(toolCallId)) continue;
    known.add(toolCallId);
    records.push({ toolCallId, toolName: null, arguments: null, output: null, callOrder: Infinity });
  }
  const calls = records.map(({ toolCallId, toolName, ...call }): TracedCall => {
    const span = spans.find((span) => {
      return toolCallId !== null && span['toolCallId'] === toolCallId && span['category'] !== 'error';
    });
    return { toolName: toolName ?? readText(span?.['toolName']), ...call, ...readSpan(span, spans) };
  });
  const turns = listRecords(trace['prompts']).flatMap((turn) => listRecords(turn['actualToolCalls']));
  return {
    calls,
    namedTools: turns.flatMap((call) => readText(call['toolName']) ?? []),
    finalAssistantMessage: readContent(messages.findLast(({ role }) => role === 'assistant')?.['content']),
    userMessages: messages.filter(({ role }) => role === 'user').length,
  };
}

/** Returns the text of a message; joins parts as the API does. */
function readContent(content: unknown): string {
  if (typeof content === 'string') return content;
  return listRecords(content)
    .map((part) => (part['type'] === 'text' && typeof part['text'] === 'string' ? part['text'] : ''))
    .join('');
}

function readMessages(messages: ReadonlyArray<Record<string, unknown>>): CallRecord[] {
  const waiting: CallRecord[] = [];
  const answered: CallRecord[] = [];
  for (const part of messages.flatMap(({ content }) => listRecords(content))) {
    const toolCallId = readText(part['toolCallId']);
    const toolName = readText(part['toolName']);
    if (part['type'] === 'tool-call') {
      const { input, args = input } = part;
      const callOrder = waiting.length + answered.length;
      waiting.push({ toolCallId, toolName, arguments: isRecord(args) ? args : null, output: null, callOrder });
    }
    if (part['type'] !== 'tool-result') continue;
    // Some traces omit the ids; results then answer the calls in order.
    const index = waiting.findIndex((call) => call.toolCallId === toolCallId);
    const [call] = index === -1 ? [] : waiting.splice(index, 1);
    const earlier = toolCallId === null ? -1 : answered.findIndex((call) => call.toolCallId === toolCallId);
    if (earlier !== -1) answered.splice(earlier, 1);
    answered.push({
      toolCallId,
      toolName: toolName ?? call?.toolName ?? null,
      arguments: call?.arguments ?? null,
      output: readToolOutput(part),
      callOrder: call?.callOrder ?? Infinity,
    });
  }
  return [...answered, ...waiting];
}

function readSpan(
  span: Record<string, unknown> | undefined,
  spans: ReadonlyArray<Record<string, unknown>>,
): Pick<TracedCall, 'errorCode' | 'latencyMs' | 'stepId' | 'promptIndex'> {
  if (span === undefined) return { errorCode: null, latencyMs: null, stepId: null, promptIndex: null };
  const { startMs, endMs, promptIndex, parentId, mcpErrorCode } = span;
  const parent = typeof parentId === 'string' ? spans.find(({ id }) => id === parentId) : undefined;
  const isTimed = typeof startMs === 'number' && typeof endMs === 'number' && endMs >= startMs;
  return {
    errorCode: typeof mcpErrorCode === 'number' ? mcpErrorCode : null,
    latencyMs: isTimed ? endMs - startMs : null,
    stepId: readText(span['authoredStepId']) ?? readText(parent?.['authoredStepId']),
    promptIndex: typeof promptIndex === 'number' ? promptIndex : null,
  };
}

function readText(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** The answer of a tool, as stored in a `tool-result` part of a message. */
export interface ToolOutput {
  /** The text blocks of the result, one per line. */
  text: string;
  /** Undefined if the result has none, or if it was not stored. */
  structuredContent: unknown;
  /** The blocks of the result; null if they were not stored. */
  content: readonly unknown[] | null;
  isError: boolean;
  /** True if this is the MCP result as the server sent it, not the version that a model was shown. */
  isVerbatim: boolean;
}

/** Some traces wrap an output twice; deeper wrapping is not useful. */
const deepestWrapping = 3;

/**
 * Reads the result that a `tool-result` part stores: the MCP result in `result`, or else one of the AI SDK's kinds in `output` (`json`,
 * `text`, `content`, `error-text`, `error-json`). Null if neither can be read.
 */
export function readToolOutput(part: Readonly<Record<string, unknown>>): ToolOutput | null {
  const { result, output = result } = part;
  const read = isMcpResult(result) ? readMcpResult(result) : readOutput(output, deepestWrapping);
  if (read === null || read.isVerbatim) return read;
  return { ...read, isError: read.isError || part['isError'] === true };
}

function readOutput(output: unknown, depth: number): ToolOutput | null {
  if (output === undefined || output === null) return null;
  if (isMcpResult(output)) return readMcpResult(output);
  if (!isTyped(output)) return readDocument(output);
  const { type, value } = output;
  switch (type) {
    case 'json':
    case 'error-json': {
      const read = depth === 0 ? null : readOutput(value, depth - 1);
      return read === null || type === 'json' ? read : { ...read, isError: true };
    }
    case 'text':
    case 'error-text':
      return typeof value === 'string' ? { ...readDocument(value), isError: type === 'error-text' } : null;
    case 'content':
      return Array.isArray(value) ? readDocument(joinText(value)) : null;
    default:
      return null;
  }
}

function isTyped(output: unknown): output is { type: string; value: unknown } {
  return isRecord(output) && typeof output['type'] === 'string' && 'value' in output;
}

function isMcpResult(value: unknown): value is Record<string, unknown> {
  return isRecord(value) && (Array.isArray(value['content']) || isRecord(value['structuredContent']));
}

function readMcpResult({ content, structuredContent, isError }: Record<string, unknown>): ToolOutput {
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [];
  return {
    text: joinText(blocks),
    structuredContent,
    content: blocks,
    isError: isError === true,
    isVerbatim: true,
  };
}

function readDocument(value: unknown): ToolOutput {
  const isText = typeof value === 'string';
  return {
    text: isText ? value : JSON.stringify(value),
    structuredContent: isText ? undefined : value,
    content: null,
    isError: false,
    isVerbatim: false,
  };
}

function joinText(blocks: readonly unknown[]): string {
  return blocks
    .flatMap((block) => {
      const isText = isRecord(block) && block['type'] === 'text' && typeof block['text'] === 'string';
      return isText ? [block['text']] : [];
    })
    .join('\n');
}
