import { describeError, ModelError } from '../base/errors.ts';
import { attemptRequest } from '../http/attempt.ts';
import type { AttemptOutcome } from '../http/retry.ts';
import { type AttemptBounds, judgeResult, pauseCalls, type ProviderCaller } from './attempt-call.ts';
import type { HostRequest, ModelAnswer } from './language-model.ts';
import { formatModelName } from './model-name.ts';
import { explainBrokenCall, readProviderFailure } from './provider-failure.ts';
import { type ProviderSettings, writeHeaders } from './providers.ts';
import { readResetMs } from './rate-limits.ts';

/** The number of attempts after an answer that is not complete: each costs tokens. */
const fewAttempts = 3;

/** Makes one attempt of a host's own call. Failures are values; only an abort of the signal throws, with the signal's reason. */
export async function attemptHostRequest(
  caller: ProviderCaller,
  request: HostRequest,
  { remainingMs, signal }: AttemptBounds,
): Promise<AttemptOutcome<Omit<ModelAnswer, 'isReplayed'>>> {
  const { wire, path, headers, body } = request;
  const { route, limits, redactor, pacer, settings, model } = caller;
  const attemptTimeoutMs = Math.min(limits.attemptTimeoutMs, remainingMs);
  const outcome = await attemptRequest(
    route,
    {
      method: 'POST',
      url: new URL(`${findBase(settings, wire)}${path}`),
      headers: { ...headers, ...writeHeaders(settings.headers), ...authorize(settings, wire) },
      body,
    },
    {
      limits: { headersTimeoutMs: attemptTimeoutMs, attemptTimeoutMs, maxBytes: limits.maxBytes },
      redactor,
      signal,
      readFailure: (answer) => readProviderFailure(answer, caller),
      parseAnswer: (text, contentType = '', answered) => ({ text, contentType, headers: answered }),
    },
  );
  if (!outcome.ok) {
    if (outcome.error instanceof ModelError) return pauseCalls(outcome, pacer);
    return { ok: false, ...explainBrokenCall(outcome, caller) };
  }
  const resetMs = readResetMs(outcome.answer.headers);
  if (resetMs !== undefined) pacer.pause(resetMs);
  try {
    return judgeResult(request.readAnswer(outcome.answer), caller);
  } catch (error) {
    const message = `${formatModelName(model)} gave no complete answer: ${redactor.redact(describeError(error))}`;
    const failure = new ModelError(message, { kind: 'unavailable' });
    return { ok: false, error: failure, repeat: 'if-safe', maxAttempts: fewAttempts };
  }
}

/** Google has Chat Completions in a folder of its own API. */
function findBase({ baseUrl }: ProviderSettings, wire: HostRequest['wire']): string {
  const base = baseUrl.href.replace(/\/$/, '');
  return wire === 'google-generate-content' ? base.replace(/\/openai$/, '') : base;
}

function authorize({ format, apiKey }: ProviderSettings, wire: HostRequest['wire']): Record<string, string> {
  if (apiKey === null) return {};
  const key = apiKey.reveal();
  if (wire === 'google-generate-content') return { 'x-goog-api-key': key };
  return format === 'anthropic' ? { 'x-api-key': key } : { authorization: `Bearer ${key}` };
}
