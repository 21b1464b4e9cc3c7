import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4GenerateResult } from '@ai-sdk/provider';
import { describeError, ModelError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type { Redactor } from '../base/redaction.ts';
import { type Clock, race, startTimeLimit } from '../base/time.ts';
import { attemptRequest, parseJsonAnswer } from '../http/attempt.ts';
import type { Route } from '../http/dispatcher.ts';
import type { FailedAnswer } from '../http/failed-answer.ts';
import type { AttemptFailure, AttemptOutcome, RetryQuota } from '../http/retry.ts';
import { FilteredError } from './filtered-error.ts';
import type { ModelCall } from './language-model.ts';
import { formatModelName } from './model-name.ts';
import type { CreateModel, ProviderFetch } from './open-provider.ts';
import {
  classifyFailure,
  explainBrokenCall,
  type FailureContext,
  readEmbeddedError,
  readProviderFailure,
} from './provider-failure.ts';
import { type ProviderPacer, readResetMs } from './rate-limits.ts';

/** The settings and shared state of all calls of one model. */
export interface ProviderCaller extends FailureContext {
  createModel: CreateModel;
  route: Route;
  limits: CallLimits;
  clock: Clock;
  /** Shared by all calls with the same key, like the quota. */
  pacer: ProviderPacer;
  quota: RetryQuota;
  /** Draws in [0, 1) for the jitter of waits. */
  random: () => number;
  logger: Logger;
  redactor: Redactor;
  /** The warnings about calls that were already logged, such as settings that models ignore. */
  warned: Set<string>;
}

/** The limits of one call. */
export interface CallLimits {
  /** The time limit of one attempt, from the first byte sent to the last byte read. */
  attemptTimeoutMs: number;
  /** The time limit of a call with all its attempts. It ends calls to a provider that is down. */
  callTimeoutMs: number;
  /** The maximum size of one answer, decompressed. */
  maxBytes: number;
}

/** The number of attempts after an answer of an unknown shape: each costs tokens, and the shape rarely changes. */
const fewAttempts = 3;

/** Finish reasons of an answer that the provider broke off, as DeepSeek and OpenRouter name them. */
const brokenOff: ReadonlySet<string> = new Set(['error', 'insufficient_system_resource']);

export interface AttemptBounds {
  remainingMs: number;
  signal: AbortSignal;
}

/**
 * Makes one attempt of a call. Failures are values, each a ModelError; only an abort of the signal throws, with the signal's reason.
 */
export async function attemptCall(
  caller: ProviderCaller,
  call: ModelCall,
  bounds: AttemptBounds,
): Promise<AttemptOutcome<LanguageModelV4GenerateResult>> {
  let failure: AttemptFailure | undefined;
  let wasAnswered = false;
  const fetchAnswer: ProviderFetch = async (input, init) => {
    const request = new Request(input, { ...init, signal: null });
    const outcome = await sendRequest(caller, request, bounds);
    if (!outcome.ok) {
      failure = outcome;
      throw outcome.error;
    }
    wasAnswered = true;
    return new Response(outcome.answer, { headers: { 'content-type': 'application/json' } });
  };
  try {
    const model = caller.createModel(fetchAnswer);
    const result = await (caller.settings.format === 'own'
      ? askOwn(model, call, { caller, bounds })
      : model.doGenerate(buildOptions(call)));
    return judgeResult(result, caller);
  } catch (error) {
    bounds.signal.throwIfAborted();
    if (failure !== undefined) return { ok: false, ...failure };
    return explainConversion(error, wasAnswered, caller);
  }
}

/** The limits of a request end a call of a provider; a model of the program sends none. */
async function askOwn(
  model: LanguageModelV4,
  call: ModelCall,
  { caller: { clock, limits, ...caller }, bounds }: { caller: ProviderCaller; bounds: AttemptBounds },
): Promise<LanguageModelV4GenerateResult> {
  const afterMs = Math.min(limits.attemptTimeoutMs, bounds.remainingMs);
  using limit = startTimeLimit(clock, { afterMs, what: formatModelName(caller.model), signal: bounds.signal });
  const answer = async () => await model.doGenerate({ ...buildOptions(call), abortSignal: limit.signal });
  return await race(answer(), { signals: [limit.signal] });
}

function buildOptions({
  prompt,
  tools,
  toolChoice,
  temperature,
  reasoningEffort,
  maxOutputTokens,
  topP,
  seed,
}: ModelCall): LanguageModelV4CallOptions {
  return {
    prompt,
    ...(tools.length === 0 ? {} : { tools }),
    ...(toolChoice === undefined || tools.length === 0 ? {} : { toolChoice }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(reasoningEffort === undefined ? {} : { reasoning: reasoningEffort }),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    ...(topP === undefined ? {} : { topP }),
    ...(seed === undefined ? {} : { seed }),
  };
}

/** Sends a request that a provider's package wrote, within the limits of all requests of this project. Returns the text of a JSON answer. */
async function sendRequest(
  caller: ProviderCaller,
  request: Request,
  { remainingMs, signal }: AttemptBounds,
): Promise<AttemptOutcome<string>> {
  const { route, limits, redactor, pacer } = caller;
  const attemptTimeoutMs = Math.min(limits.attemptTimeoutMs, remainingMs);
  const body = await request.text();
  const outcome = await attemptRequest(
    route,
    { method: 'POST', url: new URL(request.url), headers: Object.fromEntries(request.headers), body },
    {
      limits: { headersTimeoutMs: attemptTimeoutMs, attemptTimeoutMs, maxBytes: limits.maxBytes },
      redactor,
      signal,
      readFailure: (answer) => readProviderFailure(answer, caller),
      parseAnswer: (text, contentType, headers) => ({ text, body: parseJsonAnswer(text, contentType), headers }),
    },
  );
  if (!outcome.ok) {
    if (outcome.error instanceof ModelError) return pauseCalls(outcome, pacer);
    return { ok: false, ...explainBrokenCall(outcome, caller) };
  }
  const { text, body: answer, headers } = outcome.answer;
  const resetMs = readResetMs(headers);
  if (resetMs !== undefined) pacer.pause(resetMs);
  const error = readEmbeddedError(answer);
  if (error === null) return { ok: true, answer: text };
  const failed: Pick<FailedAnswer, 'status' | 'headers'> = { status: error.status ?? 502, headers };
  return { ok: false, ...classifyFailure(failed, { ...error, message: redactor.redact(error.message) }, caller) };
}

/** Pauses all calls of the key, because the provider would refuse them for the same rate limit. */
export function pauseCalls(
  outcome: { ok: false } & AttemptFailure,
  pacer: ProviderPacer,
): { ok: false } & AttemptFailure {
  if (outcome.isRateLimited === true && outcome.retryAfterMs !== undefined) pacer.pause(outcome.retryAfterMs);
  return outcome;
}

export function judgeResult<T extends Pick<LanguageModelV4GenerateResult, 'content' | 'finishReason' | 'usage'>>(
  result: T,
  { model, redactor }: ProviderCaller,
): AttemptOutcome<T> {
  const { unified, raw } = result.finishReason;
  const reason = redactor.redact(raw ?? unified).slice(0, 100);
  if (unified === 'content-filter') {
    const { content, usage } = result;
    const answer = { content, usage, finishReason: { unified, raw: reason }, isReplayed: false };
    return { ok: false, error: new FilteredError(model, answer), repeat: 'never' };
  }
  if (unified === 'error' || unified === 'interrupted' || brokenOff.has(raw ?? '')) {
    const message = `The provider of ${formatModelName(model)} broke off the answer (${reason}).`;
    return { ok: false, error: new ModelError(message, { kind: 'unavailable' }), repeat: 'if-safe' };
  }
  return { ok: true, answer: result };
}

/** Explains an error of a package without its text, because the packages quote answers and prompts in their errors. */
function explainConversion(
  error: unknown,
  wasAnswered: boolean,
  { model, settings, redactor }: ProviderCaller,
): { ok: false } & AttemptFailure {
  const name = formatModelName(model);
  if (settings.format === 'own') {
    const message = `${name} failed: ${redactor.redact(describeError(error))}`;
    return { ok: false, error: new ModelError(message, { kind: 'unavailable' }), repeat: 'never' };
  }
  if (wasAnswered) {
    const message = `${name} gave an answer that its API does not describe.`;
    const hint = `If ${settings.baseUrlVariable} is set, check it.`;
    const failure = new ModelError(message, { kind: 'unavailable', hint });
    return { ok: false, error: failure, repeat: 'if-safe', maxAttempts: fewAttempts };
  }
  const kind = error instanceof Error ? error.name : 'unknown error';
  const message = `The conversation cannot be written for ${name} (${kind}).`;
  return { ok: false, error: new ModelError(message, { kind: 'unavailable' }), repeat: 'never' };
}
