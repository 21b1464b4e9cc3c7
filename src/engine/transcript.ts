import type { Clock } from '../base/time.ts';
import type { ToolList } from '../mcp/tool-declarations.ts';
import type { Ability, ClientRequest } from '../model/client-abilities.ts';
import type { IterationJudge, ToolCall } from '../model/run.ts';
import type { TraceMessage, TracePart, TraceSpan } from '../model/trace.ts';
import type { Step } from '../cases/step.ts';
import type { WidgetObservation } from '../model/widget.ts';
import { addUsage, type ModelUsage, noModelUsage } from '../model/usage.ts';
import type { ModelAnswer, ModelName } from '../models/language-model.ts';
import { formatModelName } from '../models/model-name.ts';
import { measureUsage } from '../models/usage.ts';
import { type CallOutput, readResult } from './call-output.ts';
import type { Evidence, Reply, ToolResult } from '../checks/evidence.ts';
import type { JudgeLog } from './judging-aids.ts';
import { NotificationLog } from './notification-log.ts';
import type { Turn } from './match.ts';
import { type CallOrigin, describeAnswer, placeSpan, stepSpanId, readJson } from './span-parts.ts';

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
  readonly replies: Reply[] = [];
  readonly notifications: NotificationLog;
  widgets: WidgetObservation[] | null = null;
  refusal: string | null = null;
  /** By the abilities that the case offers. */
  readonly clientRequests: Partial<Record<Ability, ClientRequest[]>> = {};
  /** Tools that steps or a model called and that the server does not list, with the steps. */
  readonly unlistedTools: Array<{ toolName: string; stepIndex: number }> = [];
  /** The step under way; null between two of them. */
  currentStep: { step: Step; stepIndex: number } | null = null;
  #cutReason: string | null = null;
  /** What the servers declare of their tools, of which no two have one of the same name; null while nothing has asked. */
  tools: ToolList = null;
  readonly #toolsOfServers = new Map<string, ToolList>();
  usage: ModelUsage = noModelUsage;
  /** Why no other iteration of the run could have a result, such as a key that is refused. */
  runStop: string | null = null;
  /** What judges used, call by call. */
  readonly judges: IterationJudge[] = [];
  readonly #clock: Clock;
  readonly #startedAtMonotonicMs: number;
  /** Tokens of all answers, those of recordings included; null once one did not say. */
  #tokens: number | null = 0;
  #callCount = 0;
  #clientRequestCount = 0;
  #widgetCalls = 0;
  /** Since when the iteration waits for the model. */
  #askedAtMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.notifications = new NotificationLog(clock);
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

  /**
   * Records what a model answered to a server, which was asked for at `askedAtMs`. It is no part of the conversation that the case has
   * with the model.
   */
  addSample(answer: ModelAnswer, timing: { model: ModelName; origin: CallOrigin | null; askedAtMs: number }): void {
    this.#countAnswer(answer, timing);
  }

  /** Records a call of an app that ended now. It is none of the case's. */
  addWidgetCall({ toolName, startMs, isOk }: { toolName: string; startMs: number; isOk: boolean }): void {
    this.#widgetCalls += 1;
    const times = { ...this.#timeSpan(startMs), status: isOk ? ('ok' as const) : ('error' as const) };
    this.spans.push({ id: `widget_call_${this.#widgetCalls}`, name: toolName, category: 'tool', toolName, ...times });
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
    this.refusal = null;
    this.#askedAtMs = this.elapsedMs();
  }

  /**
   * Records an answer of a model, which was asked for when the user or a tool had answered last. Returns the ids by which the trace
   * knows the calls that it asks for: those of a provider may repeat.
   */
  addAnswer(answer: ModelAnswer, { model, origin }: { model: ModelName; origin: CallOrigin }): string[] {
    const callIds: string[] = [];
    const parts = answer.content.flatMap((part): TracePart[] => {
      if (part.type === 'text') return [{ type: 'text', text: part.text }];
      if (part.type !== 'tool-call') return [];
      const toolCallId = this.#nextCallId();
      callIds.push(toolCallId);
      return [{ type: 'tool-call', toolCallId, toolName: part.toolName, input: readJson(part.input) }];
    });
    this.messages.push({ role: 'assistant', content: parts });
    this.#countAnswer(answer, { model, origin, askedAtMs: this.#askedAtMs });
    return callIds;
  }

  #countAnswer(
    answer: ModelAnswer,
    { model, origin, askedAtMs }: { model: ModelName; origin: CallOrigin | null; askedAtMs: number },
  ): void {
    this.usage = addUsage(this.usage, measureUsage(answer));
    const described = describeAnswer(model, answer);
    const { totalTokens } = described;
    this.#tokens = totalTokens !== undefined && this.#tokens !== null ? this.#tokens + totalTokens : null;
    this.spans.push({
      id: `answer_${this.usage.modelCalls + this.usage.replayedCalls}`,
      ...(origin !== null && { parentId: stepSpanId(origin.stepIndex) }),
      name: formatModelName(model),
      category: 'llm',
      ...this.#timeSpan(askedAtMs),
      ...(origin !== null && placeSpan(origin)),
      ...described,
    });
  }

  /** Records the calls of the judges of an assert step, or with null of those of the checks at the end. */
  logJudges(origin: Omit<CallOrigin, 'promptIndex'> | null): JudgeLog {
    return {
      beginCall: ({ model, isGating }) => {
        const askedAtMs = this.elapsedMs();
        return (answer) => {
          this.judges.push({ model: formatModelName(model), isGating, usage: measureUsage(answer) });
          this.spans.push({
            id: `judgement_${this.judges.length}`,
            ...(origin !== null && { parentId: stepSpanId(origin.stepIndex) }),
            name: `judge ${formatModelName(model)}`,
            category: 'llm',
            ...this.#timeSpan(askedAtMs),
            ...(origin !== null && placeSpan({ ...origin, promptIndex: null })),
            role: 'judge',
            ...describeAnswer(model, answer),
          });
        };
      },
      stopRun: (reason) => {
        this.runStop = reason;
      },
    };
  }

  #timeSpan(startMs: number): Pick<TraceSpan, 'startMs' | 'endMs' | 'status'> {
    return { startMs: this.#toEpochMs(startMs), endMs: this.#toEpochMs(this.elapsedMs()), status: 'ok' };
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

  /** Numbers a request of the server, from 1; those that are no evidence any more stay in the trace. */
  countClientRequest(): number {
    this.#clientRequestCount += 1;
    return this.#clientRequestCount;
  }

  #nextCallId(): string {
    this.#callCount += 1;
    return `call_${this.#callCount}`;
  }

  #toEpochMs(elapsedMs: number): number {
    return Math.round(this.startedAtMs + elapsedMs);
  }
}
