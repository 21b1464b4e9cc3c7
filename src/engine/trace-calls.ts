import { isRecord } from '../base/json.ts';
import { readToolOutput, type ToolOutput } from './tool-output.ts';

/** A tool call as a service's trace records it. */
export interface TracedCall {
  toolName: string | null;
  /** Null where the trace has no result of it, or none that can be read. */
  output: ToolOutput | null;
  /** From the call to its answer; null where nothing measured it. */
  latencyMs: number | null;
  /** The step that made the call or prompted the model to; null where the trace does not say. */
  stepId: string | null;
  /** Which turn it belongs to, counted from 0; null where the trace does not say. */
  promptIndex: number | null;
}

/** What a trace records about tool calls. */
export interface TraceRecord {
  /** In the order of their results; those without one come last. */
  calls: TracedCall[];
  /** Tools that the trace says were called in some turn, whether it shows the calls or not. */
  namedTools: string[];
}

/** A call before its span was looked up. */
interface CallRecord {
  toolCallId: string | null;
  toolName: string | null;
  output: ToolOutput | null;
}

/**
 * Reads the tool calls out of a trace. Any part of one may be missing or odd, and what cannot be read is taken as absent.
 * Null where there are no messages at all.
 */
export function readTrace(trace: unknown): TraceRecord | null {
  if (!isRecord(trace) || !Array.isArray(trace['messages'])) return null;
  const spans = listObjects(trace['spans']);
  const records = readMessages(listObjects(trace['messages']));
  const known = new Set(records.map(({ toolCallId }) => toolCallId));
  // A call that only a span records was made all the same.
  for (const span of spans) {
    const toolCallId = readText(span['toolCallId']);
    if (span['category'] !== 'tool' || toolCallId === null || known.has(toolCallId)) continue;
    known.add(toolCallId);
    records.push({ toolCallId, toolName: null, output: null });
  }
  const calls = records.map(({ toolCallId, toolName, output }): TracedCall => {
    const span = spans.find((span) => {
      return toolCallId !== null && span['toolCallId'] === toolCallId && span['category'] !== 'error';
    });
    return { toolName: toolName ?? readText(span?.['toolName']), output, ...readSpan(span, spans) };
  });
  const turns = listObjects(trace['prompts']).flatMap((turn) => listObjects(turn['actualToolCalls']));
  return { calls, namedTools: turns.flatMap((call) => readText(call['toolName']) ?? []) };
}

function readMessages(messages: ReadonlyArray<Record<string, unknown>>): CallRecord[] {
  const waiting: CallRecord[] = [];
  const answered: CallRecord[] = [];
  for (const part of messages.flatMap(({ content }) => listObjects(content))) {
    const toolCallId = readText(part['toolCallId']);
    const toolName = readText(part['toolName']);
    if (part['type'] === 'tool-call') waiting.push({ toolCallId, toolName, output: null });
    if (part['type'] !== 'tool-result') continue;
    // Some traces leave the ids out; their results then answer the calls in order.
    const place = waiting.findIndex((call) => call.toolCallId === toolCallId);
    const [call] = place === -1 ? [] : waiting.splice(place, 1);
    const earlier = toolCallId === null ? -1 : answered.findIndex((call) => call.toolCallId === toolCallId);
    if (earlier !== -1) answered.splice(earlier, 1);
    answered.push({ toolCallId, toolName: toolName ?? call?.toolName ?? null, output: readToolOutput(part) });
  }
  return [...answered, ...waiting];
}

function readSpan(
  span: Record<string, unknown> | undefined,
  spans: ReadonlyArray<Record<string, unknown>>,
): Pick<TracedCall, 'latencyMs' | 'stepId' | 'promptIndex'> {
  if (span === undefined) return { latencyMs: null, stepId: null, promptIndex: null };
  const { startMs, endMs, promptIndex, parentId } = span;
  const parent = typeof parentId === 'string' ? spans.find(({ id }) => id === parentId) : undefined;
  const isTimed = typeof startMs === 'number' && typeof endMs === 'number' && endMs >= startMs;
  return {
    latencyMs: isTimed ? endMs - startMs : null,
    stepId: readText(span['authoredStepId']) ?? readText(parent?.['authoredStepId']),
    promptIndex: typeof promptIndex === 'number' ? promptIndex : null,
  };
}

function listObjects(value: unknown): Array<Record<string, unknown>> {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

function readText(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
