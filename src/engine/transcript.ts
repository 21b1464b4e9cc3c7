import type { CallToolResult } from '@modelcontextprotocol/client';
import type { Clock } from '../base/time.ts';
import type { ToolList } from '../mcp/session.ts';
import type { ToolCall } from '../model/run.ts';
import type { TraceMessage, TracePart, TraceSpan } from '../model/trace.ts';
import { addUsage, type ModelUsage, noModelUsage } from '../model/usage.ts';
import type { ModelAnswer, ModelName } from '../models/language-model.ts';
import { measureUsage } from '../models/usage.ts';
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

/** The step that a call belongs to; `promptIndex` counts the prompts of the case from 0, and is null for a pinned call. */
export interface CallOrigin {
  step: { id: string };
  stepIndex: number;
  promptIndex: number | null;
}

/** Everything an iteration did so far, as evidence for its assertions and for the trace. */
export class Transcript implements Evidence {
  readonly startedAtMs: number;
  readonly messages: TraceMessage[] = [];
  readonly spans: TraceSpan[] = [];
  readonly turns: Turn[] = [];
  readonly toolCalls: ToolCall[] = [];
  readonly toolResults: ToolResult[] = [];
  #cutReason: string | null = null;
  /** What the servers declare of their tools, of which no two have one of the same name; null while nothing has asked. */
  tools: ToolList = null;
  readonly #toolsOfServers = new Map<string, ToolList>();
  usage: ModelUsage = noModelUsage;
  /** Why no other iteration of the run could have a result, such as a key that is refused. */
  runStop: string | null = null;
  /** Recorded answers of judges that gate. Those of advice decide nothing. */
  replayedJudgements = 0;
  readonly #clock: Clock;
  readonly #startedAtMonotonicMs: number;
  /** Tokens of all answers, those of recordings included; null once one did not say. */
  #tokens: number | null = 0;
  #callCount = 0;
  /** Since when the iteration waits for the model. */
  #askedAtMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.startedAtMs = clock.now();
    this.#startedAtMonotonicMs = clock.monotonicMs();
  }

  /** Why nothing is known of what the model would have done next; null while everything is. */
  get cutReason(): string | null {
    return this.#cutReason;
  }

  /** Records what a server declares of its tools, instead of what it did before. */
  setTools(serverName: string, list: ToolList): void {
    this.#toolsOfServers.set(serverName, list);
    const lists = [...this.#toolsOfServers.values()];
    this.tools = lists.length === 1 ? list : new Map(lists.flatMap((each) => [...(each ?? [])]));
  }

  /** Ends the evidence in the middle of a turn: what the model would have done next is unknown. */
  cut(reason: string): void {
    this.#cutReason = reason;
    const turn = this.turns.at(-1);
    if (turn !== undefined) turn.isCut = true;
  }

  get tokensUsed(): number | null {
    return this.usage.modelCalls + this.usage.replayedCalls === 0 ? null : this.#tokens;
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

  /** Records what the user says to a model; `system` comes before the first prompt of a case. */
  beginTurn(prompt: string, { system }: { system: string | null }): void {
    if (this.turns.length === 0 && system !== null) this.messages.push({ role: 'system', content: system });
    this.messages.push({ role: 'user', content: prompt });
    this.turns.push({ prompt, actualToolCalls: [], isCut: false });
    this.#askedAtMs = this.elapsedMs();
  }

  /**
   * Records an answer of a model, which was asked for when the user or a tool had answered last. Returns the ids by which the trace
   * knows the calls that it asks for: those of a provider may repeat.
   */
  addAnswer(
    { content, finishReason, usage, isReplayed }: ModelAnswer,
    { model, origin }: { model: ModelName; origin: CallOrigin },
  ): string[] {
    const callIds: string[] = [];
    const parts = content.flatMap((part): TracePart[] => {
      if (part.type === 'text') return [{ type: 'text', text: part.text }];
      if (part.type !== 'tool-call') return [];
      const toolCallId = this.#nextCallId();
      callIds.push(toolCallId);
      return [{ type: 'tool-call', toolCallId, toolName: part.toolName, input: readJson(part.input) }];
    });
    this.messages.push({ role: 'assistant', content: parts });
    const { total: inputTokens } = usage.inputTokens;
    const { total: outputTokens } = usage.outputTokens;
    const isMeasured = inputTokens !== undefined && outputTokens !== undefined;
    this.#tokens = isMeasured && this.#tokens !== null ? this.#tokens + inputTokens + outputTokens : null;
    this.usage = addUsage(this.usage, measureUsage({ usage, isReplayed }));
    this.spans.push({
      id: `answer_${this.usage.modelCalls + this.usage.replayedCalls}`,
      parentId: stepSpanId(origin.stepIndex),
      name: `${model.provider}/${model.name}`,
      category: 'llm',
      startMs: this.#toEpochMs(this.#askedAtMs),
      endMs: this.#toEpochMs(this.elapsedMs()),
      status: 'ok',
      ...placeSpan(origin),
      modelId: model.name,
      provider: model.provider,
      finishReason: finishReason.unified,
      ...(inputTokens !== undefined && { inputTokens }),
      ...(outputTokens !== undefined && { outputTokens }),
      ...(isMeasured && { totalTokens: inputTokens + outputTokens }),
    });
    return callIds;
  }

  /** Records the answer that a model gets to a call that was never made, because it may not be. */
  addRefusal(toolCallId: string, toolName: string, text: string): void {
    this.messages.push({
      role: 'tool',
      content: [{ type: 'tool-result', toolCallId, toolName, output: { type: 'text', value: text } }],
    });
    this.#askedAtMs = this.elapsedMs();
  }

  /** Records a call that begins now, made by a step. */
  beginPinnedCall(call: ToolCall, origin: CallOrigin & { isListed: boolean }): CallRecord {
    const toolCallId = this.#nextCallId();
    const { toolName } = call;
    const part = { type: 'tool-call' as const, toolCallId, toolName, input: call.arguments };
    this.messages.push({ role: 'assistant', content: [part] });
    return this.#beginCall(call, { ...origin, toolCallId });
  }

  /** Records a call that begins now and that a model asked for; `toolCallId` is the one that `addAnswer` returned for it. */
  beginModelCall(call: ToolCall, origin: CallOrigin & { isListed: boolean; toolCallId: string }): CallRecord {
    this.turns.at(-1)?.actualToolCalls.push(call);
    return this.#beginCall(call, origin);
  }

  #beginCall(call: ToolCall, origin: CallOrigin & { isListed: boolean; toolCallId: string }): CallRecord {
    const { toolName } = call;
    const { stepIndex, isListed, toolCallId } = origin;
    const startMs = this.elapsedMs();
    this.toolCalls.push(call);
    const addSpan = (endMs: number, isOk: boolean, mcpErrorCode: number | null) => {
      this.spans.push({
        id: toolCallId,
        parentId: stepSpanId(stepIndex),
        name: toolName,
        category: 'tool',
        startMs: this.#toEpochMs(startMs),
        endMs: this.#toEpochMs(endMs),
        status: isOk ? 'ok' : 'error',
        ...placeSpan(origin),
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
        const result = { ...readResult(call, output, output.answeredAtMs - startMs), isListed };
        this.toolResults.push(result);
        this.#askedAtMs = output.answeredAtMs;
        return result;
      },
      abandon: () => addSpan(this.elapsedMs(), false, null),
    };
  }

  #nextCallId(): string {
    this.#callCount += 1;
    return `call_${this.#callCount}`;
  }

  #toEpochMs(elapsedMs: number): number {
    return Math.round(this.startedAtMs + elapsedMs);
  }
}

function stepSpanId(stepIndex: number): string {
  return `step_${stepIndex + 1}`;
}

function placeSpan({ step, stepIndex, promptIndex }: CallOrigin) {
  return { stepIndex, authoredStepId: step.id, ...(promptIndex !== null && { promptIndex }) };
}

/** An input that is no JSON stays the text that it is. */
function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function readResult(call: ToolCall, output: CallOutput, latencyMs: number): Omit<ToolResult, 'isListed'> {
  const { toolError } = output;
  const shared = { toolName: call.toolName, arguments: call.arguments, toolError, latencyMs };
  if (output.kind === 'error') {
    const { message, code } = output;
    const none = { structuredContent: undefined, content: [] };
    return { ...shared, ...none, text: message, errorCode: code, isError: true, sizeBytes: measureBytes(message) };
  }
  const { result } = output;
  return {
    ...shared,
    text: readText(result),
    structuredContent: result.structuredContent,
    content: result.content,
    errorCode: null,
    isError: result.isError === true,
    sizeBytes: measureBytes(result),
  };
}

/** Of the value as JSON, in bytes. */
function measureBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** The text blocks of a result, one per line. */
export function readText(result: CallToolResult): string {
  return result.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
}
