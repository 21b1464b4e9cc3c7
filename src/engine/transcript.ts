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
import type { Compared } from '../checks/judgement.ts';
import type { JudgeLog } from './judging-context.ts';
import { NotificationLog } from './notification-log.ts';
import type { Turn } from './match.ts';
import { type CallOrigin, describeAnswer, placeSpan, stepSpanId, readJson } from './span-parts.ts';

/** An open tool call. The caller calls exactly one of `complete` and `abandon`, once. */
export interface CallRecord {
  /** The id of its span in the trace. */
  readonly spanId: string;
  complete(output: CallOutput): ToolResult;
  /** Records that the call was cut off. The transcript keeps it without a result. */
  abandon(): void;
}

/** Everything an iteration did so far: the evidence for its assertions, and the data of its trace. */
export class Transcript implements Evidence {
  readonly startedAtMs: number;
  readonly messages: TraceMessage[] = [];
  readonly spans: TraceSpan[] = [];
  readonly turns: Turn[] = [];
  readonly toolCalls: ToolCall[] = [];
  readonly toolResults: ToolResult[] = [];
  readonly replies: Reply[] = [];
  readonly notifications: NotificationLog;
  /** What failed checks compared, by their reasons. */
  readonly compared = new Map<string, Compared>();
  widgets: WidgetObservation[] | null = null;
  refusal: string | null = null;
  /** By ability; has a key for each ability that the case offers. */
  readonly clientRequests: Partial<Record<Ability, ClientRequest[]>> = {};
  /** The tools that steps or a model called although the server does not list them, with the index of the step. */
  readonly unlistedTools: Array<{ toolName: string; stepIndex: number }> = [];
  /** The current step; null between two steps. */
  currentStep: { step: Step; stepIndex: number } | null = null;
  #cutReason: string | null = null;
  /** The declarations of all servers' tools, whose names are unique; null until a list is requested. */
  tools: ToolList = null;
  readonly #toolsOfServers = new Map<string, ToolList>();
  usage: ModelUsage = noModelUsage;
  /** Why no other iteration of the run can have a result, for example because a key is rejected. */
  runStop: string | null = null;
  /** The usage of each judge call. */
  readonly judges: IterationJudge[] = [];
  readonly #clock: Clock;
  readonly #startedAtMonotonicMs: number;
  /** Tokens of all answers, including recorded ones; null once an answer did not report them. */
  #tokens: number | null = 0;
  #callCount = 0;
  #clientRequestCount = 0;
  #widgetCalls = 0;
  /** The time at which the iteration started to wait for the model. */
  #askedAtMs = 0;

  readonly #onCall: (toolName: string) => void;

  /** `onCall` is called when a call of a tool begins. */
  constructor(clock: Clock, onCall: (toolName: string) => void = () => {}) {
    this.#clock = clock;
    this.#onCall = onCall;
    this.notifications = new NotificationLog(clock);
    this.startedAtMs = clock.now();
    this.#startedAtMonotonicMs = clock.monotonicMs();
  }

  /** Why the rest of the transcript is unknown; null if it is complete. */
  get cutReason(): string | null {
    return this.#cutReason;
  }

  /** Records the tool declarations of a server; replaces earlier ones. */
  setTools(serverName: string, list: ToolList): void {
    this.#toolsOfServers.set(serverName, list);
    const lists = [...this.#toolsOfServers.values()];
    this.tools = lists.length === 1 ? list : new Map(lists.flatMap((each) => [...(each ?? [])]));
  }

  /** Cuts the evidence in the middle of a turn: the further actions of the model are unknown. */
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

  /** Records the model's answer to a sampling request that was sent at `askedAtMs`. It does not belong to the conversation of the case. */
  addSample(answer: ModelAnswer, timing: { model: ModelName; origin: CallOrigin | null; askedAtMs: number }): void {
    this.#countAnswer(answer, timing);
  }

  /** Records a call of an app that ends now. It does not count as a call of the case. */
  addWidgetCall({ toolName, startMs, isOk }: { toolName: string; startMs: number; isOk: boolean }): void {
    this.#widgetCalls += 1;
    const times = { ...this.#timeSpan(startMs), status: isOk ? ('ok' as const) : ('error' as const) };
    this.spans.push({ id: `widget_call_${this.#widgetCalls}`, name: toolName, category: 'tool', toolName, ...times });
  }

  /** Records a step that ends now. */
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

  /** Records a prompt to a model. `system` and `opening`, which are no words of a user, are added before the first prompt of a case. */
  beginTurn(prompt: string, { system, opening = null }: { system: string | null; opening?: string | null }): void {
    const before = this.turns.length === 0 ? [system, opening] : [];
    for (const content of before) if (content !== null) this.messages.push({ role: 'system', content });
    this.messages.push({ role: 'user', content: prompt });
    this.turns.push({ prompt, actualToolCalls: [], isCut: false });
    this.refusal = null;
    this.#askedAtMs = this.elapsedMs();
  }

  /**
   * Records an answer of a model. Its request started when the prompt or the last tool result was recorded. Returns the trace's ids of the
   * calls in the answer, because ids of a provider may repeat.
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

  /** Returns a log for the judge calls of an assert step; null stands for the checks at the end. */
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

  /** Records the answer of the gate or the host to a call that no server gets and that does not count: a refusal, or a search of tools. */
  addOwnAnswer(toolCallId: string, toolName: string, text: string): void {
    this.messages.push({
      role: 'tool',
      content: [{ type: 'tool-result', toolCallId, toolName, output: { type: 'text', value: text } }],
    });
    this.#askedAtMs = this.elapsedMs();
  }

  /** Records the start of a call by a step. */
  beginPinnedCall(call: ToolCall, origin: CallOrigin & { isListed: boolean }): CallRecord {
    const toolCallId = this.#nextCallId();
    const { toolName } = call;
    const part = { type: 'tool-call' as const, toolCallId, toolName, input: call.arguments };
    this.messages.push({ role: 'assistant', content: [part] });
    return this.#beginCall(call, { ...origin, toolCallId });
  }

  /** Records the start of a call that a model requested. `toolCallId` is the id that `addAnswer` returned for it. */
  beginModelCall(call: ToolCall, origin: CallOrigin & { isListed: boolean; toolCallId: string }): CallRecord {
    this.turns.at(-1)?.actualToolCalls.push(call);
    return this.#beginCall(call, origin);
  }

  /** Records the start of a call that a host makes for the model. Answers in a host's own words do not name the call. */
  beginHostCall(call: ToolCall, origin: CallOrigin & { isListed: boolean }): CallRecord {
    this.turns.at(-1)?.actualToolCalls.push(call);
    return this.beginPinnedCall(call, origin);
  }

  /** Records the gate's own answer to a call of a host. No server gets the call, and it does not count. */
  refuseHostCall({ toolName, arguments: input }: ToolCall, text: string): void {
    const toolCallId = this.#nextCallId();
    this.messages.push({ role: 'assistant', content: [{ type: 'tool-call', toolCallId, toolName, input }] });
    this.addOwnAnswer(toolCallId, toolName, text);
  }

  #beginCall(call: ToolCall, origin: CallOrigin & { isListed: boolean; toolCallId: string }): CallRecord {
    const { toolName } = call;
    const { stepIndex, isListed, toolCallId } = origin;
    const startMs = this.elapsedMs();
    this.toolCalls.push(call);
    this.#onCall(toolName);
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

  /** Counts the requests of the server from 1. Includes requests that are no longer evidence, because the trace keeps them. */
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
