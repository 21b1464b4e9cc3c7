import { z } from 'zod';
import { ConfigurationError, ModelError, type ModelErrorKind } from '../base/errors.ts';
import { tryParseJson } from '../base/json.ts';
import { clipText, endSentence } from '../base/text.ts';
import type { FailedAnswer } from '../http/failed-answer.ts';
import type { AttemptFailure } from '../http/retry.ts';
import { formatModelName } from './model-name.ts';
import type { ModelName } from './language-model.ts';
import type { ProviderSettings } from './providers.ts';
import { readRetryAfterMs } from './rate-limits.ts';

/** The provider and the model that a failure is about. */
export interface FailureContext {
  settings: ProviderSettings;
  model: ModelName;
}

/** Providers write sentences as messages; a longer message is a dump. */
const longestMessage = 300;

/** The value of a code or a type, which can have any shape. */
const anything = z.unknown().optional();
const errorSchema = z.looseObject({
  type: anything,
  code: anything,
  status: anything,
  message: anything,
  metadata: z.looseObject({ reasons: anything }).optional().catch(undefined),
});
const bodySchema = z.looseObject({ error: anything, message: anything, detail: anything });

/** The error in a body, as far as the body has one of the known forms. */
export interface ProviderError {
  /** Codes and types, in lower case. */
  codes: readonly string[];
  /** Empty if there is none. */
  message: string;
  /** The status of an error inside an answer with status 200. */
  status: number | undefined;
}

/**
 * Reads the error of a body: an object, a text, or the first item of a list (Google); null for anything else. An answer with status 200
 * may have an error too (OpenRouter), in itself or in its choice.
 */
export function readProviderError(body: unknown): ProviderError | null {
  const first: unknown = Array.isArray(body) ? body[0] : body;
  const outer = bodySchema.safeParse(first).data;
  if (outer === undefined) return null;
  if (typeof outer.error === 'string') return describe({ ...outer, message: outer.error });
  const inner = errorSchema.safeParse(outer.error);
  if (inner.success) return describe(inner.data);
  const message = outer.message ?? outer.detail;
  return message === undefined ? null : describe({ ...outer, message });
}

const choicesSchema = z.object({ choices: z.tuple([z.looseObject({ error: errorSchema })]).rest(z.unknown()) });

/** Reads the error that an answer with status 200 has instead of content; null for a valid answer. */
export function readEmbeddedError(body: unknown): ProviderError | null {
  const choice = choicesSchema.safeParse(body).data?.choices[0];
  if (choice !== undefined) return describe(choice.error);
  const error = bodySchema.safeParse(body).data?.error;
  return error === undefined || error === null ? null : readProviderError(body);
}

function describe({ type, code, status, message, metadata }: Record<string, unknown>): ProviderError {
  const codes = [type, code, status].filter((value) => typeof value === 'string');
  const isModeration = errorSchema.shape.metadata.safeParse(metadata).data?.reasons !== undefined;
  return {
    codes: [...codes.map((value) => value.toLowerCase()), ...(isModeration ? ['content_filter'] : [])],
    message: clipText(typeof message === 'string' ? message : (JSON.stringify(message) ?? ''), longestMessage),
    status: typeof code === 'number' && code >= 400 && code < 600 ? code : undefined,
  };
}

/** Reads an answer whose status is an error. Its text is already redacted. */
export function readProviderFailure(answer: FailedAnswer, context: FailureContext): AttemptFailure {
  return classifyFailure(answer, readProviderError(tryParseJson(answer.text)), context);
}

interface Verdict {
  kind: ModelErrorKind;
  /** Completes `<provider> …`. */
  problem: string;
  hint?: string;
}

/** The codes and messages with which providers refuse a conversation or a body that is too long. */
const tooLongCode = /context_length|request_too_large|string_above_max_length|context_window/;
const tooLongMessage =
  /(?:prompt|input|request|conversation|messages?)\b.{0,80}\btoo (?:long|large)|(?:maximum|max) (?:context|prompt) (?:length|window)|exceeds? the (?:context|maximum number of tokens)|context window/i;

/** Classifies a failure: it concerns the whole run, only this call, or only this moment. */
export function classifyFailure(
  { status, headers }: Pick<FailedAnswer, 'status' | 'headers'>,
  error: ProviderError | null,
  context: FailureContext,
): AttemptFailure {
  const { settings } = context;
  const { kind, problem, hint } = judgeStatus(status, error, context);
  const contentType = String(headers['content-type'] ?? 'no content type');
  const text = error === null || error.message === '' ? `no reason was given (${contentType})` : error.message;
  const message = `${settings.provider} ${problem} (${status}): ${endSentence(text)}`;
  const failure = new ModelError(message, { kind, ...(hint === undefined ? {} : { hint }) });
  const isTemporary = kind === 'unavailable' && (status === 408 || status === 409 || status === 429 || status >= 500);
  if (!isTemporary) return { error: failure, repeat: 'never' };
  const retryAfterMs = readRetryAfterMs(headers);
  return { error: failure, repeat: status === 429 ? 'always' : 'if-safe', retryAfterMs, isRateLimited: status === 429 };
}

function judgeStatus(status: number, error: ProviderError | null, { settings, model }: FailureContext): Verdict {
  const { keyVariable, baseUrlVariable } = settings;
  const codes = error?.codes ?? [];
  const has = (pattern: RegExp) => codes.some((code) => pattern.test(code));
  const says = (pattern: RegExp) => pattern.test(error?.message ?? '');
  if (status < 400) {
    const hint = `Set ${baseUrlVariable} to the URL that answers itself.`;
    return { kind: 'refused', problem: 'answered with a redirect, which is not followed', hint };
  }
  if (has(/content_filter|content_policy|moderation/)) return { kind: 'filtered', problem: 'withheld the answer' };
  if ([400, 413, 422].includes(status) && (status === 413 || has(tooLongCode) || says(tooLongMessage))) {
    return { kind: 'too-long', problem: `finds the conversation too long for ${formatModelName(model)}` };
  }
  const isAccount = status === 402 || has(/insufficient_quota|billing|insufficient_balance|credit/);
  if (
    isAccount ||
    (status < 500 && says(/credit balance|insufficient (?:balance|credits?|quota)|used all available credits/i))
  ) {
    const hint = `Add credit to the account of the key in ${keyVariable}, or use the key of another account.`;
    return { kind: 'refused', problem: `gives no credit to the key in ${keyVariable}`, hint };
  }
  const isModel =
    has(/model_not_found|not_found_error|invalid_model|unknown_model/) || says(/model\W.*\bnot (?:exist|found)/i);
  if (status === 404 || (status < 429 && isModel)) {
    const hint = `Check the name of the model, and ${baseUrlVariable} if it is set.`;
    return { kind: 'refused', problem: `has no model ${JSON.stringify(model.name)}`, hint };
  }
  if (status === 401 || (status === 400 && says(/\bapi[ _]key\b/i))) {
    return {
      kind: 'refused',
      problem: `refuses the key in ${keyVariable}`,
      hint: `Correct the key in ${keyVariable}.`,
    };
  }
  if (status === 403) {
    const hint = `Check what the key in ${keyVariable} may do, and whether its account may use ${formatModelName(model)}.`;
    return { kind: 'refused', problem: `forbids the call to the key in ${keyVariable}`, hint };
  }
  if (status === 429) return { kind: 'unavailable', problem: `limits the rate of the key in ${keyVariable}` };
  if (status >= 500) return { kind: 'unavailable', problem: 'is out of order' };
  return { kind: 'unavailable', problem: 'does not accept the call' };
}

/** Explains why no answer arrived: connection, TLS, timeout, or an answer that is not JSON. */
export function explainBrokenCall(failure: AttemptFailure, { settings, model }: FailureContext): AttemptFailure {
  const { message, hint = `If ${settings.baseUrlVariable} is set, check it.` } = failure.error;
  // A proxy that requires other credentials requires them for every call.
  const kind = failure.error instanceof ConfigurationError ? 'refused' : 'unavailable';
  const text = `${formatModelName(model)} gave no answer. ${message}`;
  return { ...failure, error: new ModelError(text, { kind, hint, cause: failure.error }) };
}
