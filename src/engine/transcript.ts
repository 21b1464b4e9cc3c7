import type { CallToolResult } from '@modelcontextprotocol/client';
import type { Clock } from '../base/time.ts';
import type { ToolCall } from '../model/run.ts';
import type { TraceMessage, TraceSpan } from '../model/trace.ts';
import type { Evidence, ToolResult } from './evidence.ts';
import type { Turn } from './match.ts';

/** What came back from a tool call, and when, in milliseconds from the start of the iteration. */
export type CallOutput = { answeredAtMs: number } & (
  | { kind: 'result'; result: CallToolResult; toolError: string | null }
  /** The error that came instead of a result. */
  | { kind: 'error'; message: string; toolError: string; code: number | null }
);

/** A tool call under way. Exactly one of the two is called, once. */
export interface CallRecord {
  /** Of its span in the trace. */
  readonly spanId: string;
  complete(output: CallOutput): ToolResult;
  /** For a call that was cut off: it stays in the record, without a result. */
  abandon(): void;
}

/** Everything an iteration did so far, as evidence for its assertions and for the trace. */
export class Transcript implements Evidence {
  readonly startedAtMs: number;
  readonly messages: TraceMessage[] = [];
  readonly spans: TraceSpan[] = [];
  readonly turns: Turn[] = [];
  readonly toolCalls: ToolCall[] = [];
  readonly toolResults: ToolResult[] = [];
  /** No model takes part yet, so there is nothing to measure. */
  readonly tokensUsed: number | null = null;
  readonly isCut: string | null = null;
  readonly #clock: Clock;
  readonly #startedAtMonotonicMs: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.startedAtMs = clock.now();
    this.#startedAtMonotonicMs = clock.monotonicMs();
  }

  get userMessages(): number {
    return this.messages.filter((message) => message.role === 'user').length;
  }

  get finalAssistantMessage(): string {
    const content = this.messages.findLast((message) => message.role === 'assistant')?.content ?? '';
    if (typeof content === 'string') return content;
    return content.map((part) => (part.type === 'text' ? part.text : '')).join('');
  }

  elapsedMs(): number {
    return this.#clock.monotonicMs() - this.#startedAtMonotonicMs;
  }

  /** Records a step that ended now. */
  addStepSpan(step: { id: string; kind: string }, stepIndex: number, timing: { startMs: number; isOk: boolean }): void {
    this.spans.push({
      id: stepSpanId(stepIndex),
      name: step.kind,
      category: 'step',
      startMs: this.#toEpochMs(timing.startMs),
      endMs: this.#toEpochMs(this.elapsedMs()),
      status: timing.isOk ? 'ok' : 'error',
      stepIndex,
      authoredStepId: step.id,
    });
  }

  /** Records a call that begins now, made by a step rather than a model. */
  beginPinnedCall(call: ToolCall, step: { id: string }, origin: { stepIndex: number; isListed: boolean }): CallRecord {
    const { toolName } = call;
    const { stepIndex, isListed } = origin;
    const toolCallId = `call_${this.toolCalls.length + 1}`;
    const startMs = this.elapsedMs();
    this.toolCalls.push(call);
    this.messages.push({
      role: 'assistant',
      content: [{ type: 'tool-call', toolCallId, toolName, input: call.arguments }],
    });
    const addSpan = (endMs: number, isOk: boolean, mcpErrorCode: number | null) => {
      this.spans.push({
        id: toolCallId,
        parentId: stepSpanId(stepIndex),
        name: toolName,
        category: 'tool',
        startMs: this.#toEpochMs(startMs),
        endMs: this.#toEpochMs(endMs),
        status: isOk ? 'ok' : 'error',
        stepIndex,
        authoredStepId: step.id,
        toolCallId,
        toolName,
        ...(mcpErrorCode !== null && { mcpErrorCode }),
      });
    };
    return {
      spanId: toolCallId,
      complete: (output) => {
        addSpan(output.answeredAtMs, output.toolError === null, output.kind === 'error' ? output.code : null);
        this.messages.push({
          role: 'tool',
          content: [
            {
              type: 'tool-result',
              toolCallId,
              toolName,
              output:
                output.kind === 'result'
                  ? { type: 'json', value: output.result }
                  : { type: 'error-text', value: output.message },
              ...(output.toolError !== null && { isError: true }),
            },
          ],
        });
        const result = { ...readResult(toolName, output, output.answeredAtMs - startMs), isListed };
        this.toolResults.push(result);
        return result;
      },
      abandon: () => addSpan(this.elapsedMs(), false, null),
    };
  }

  #toEpochMs(elapsedMs: number): number {
    return Math.round(this.startedAtMs + elapsedMs);
  }
}

function stepSpanId(stepIndex: number): string {
  return `step_${stepIndex + 1}`;
}

function readResult(toolName: string, output: CallOutput, latencyMs: number): Omit<ToolResult, 'isListed'> {
  const { toolError } = output;
  if (output.kind === 'error') {
    return { toolName, text: output.message, structuredContent: undefined, isError: true, toolError, latencyMs };
  }
  return {
    toolName,
    text: readText(output.result),
    structuredContent: output.result.structuredContent,
    isError: output.result.isError === true,
    toolError,
    latencyMs,
  };
}

/** The text blocks of a result, one per line. */
export function readText(result: CallToolResult): string {
  return result.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
}
