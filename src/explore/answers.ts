import { isRecord, type JsonObject, tryParseJson } from '../base/json.ts';
import type { Observation, Outcome } from './exploration.ts';
import { readOutcomeText } from './stability/texts.ts';

/** Checks if a request was answered as a caller hopes: with a result that is no error, and does not read like one. */
export function isAnswered({ outcome }: Pick<Observation, 'outcome'>): boolean {
  return outcome.kind === 'result' && !outcome.isError && !readsLikeError(outcome);
}

/** Checks if the server refused the request, and said so, with or without the flag of an error. */
export function isRefused({ outcome }: Pick<Observation, 'outcome'>): boolean {
  return outcome.kind === 'error' || (outcome.kind === 'result' && outcome.isError) || readsLikeError(outcome);
}

/** The code of an error that asks the user to open URLs first. */
const urlElicitationRequired = -32_042;

/** Checks if the server waits until the user has opened a URL, and the client repeats the call. */
export function wantsUrl({ outcome }: Pick<Observation, 'outcome'>): boolean {
  return outcome.kind === 'error' && outcome.code === urlElicitationRequired;
}

/** How an answer reads that only looks like a success. */
const errorTexts: readonly RegExp[] = [
  /^\s*(?:[A-Za-z_]\w*\.)*\w*(?:Error|Exception)\b(?: \w+)*:/,
  /^\s*(?:error|fatal|failed|failure|invalid|unable to|could not|cannot|can't|access denied|permission denied)\b/i,
  /^Traceback \(most recent call last\)|^panic: /,
];

/** One line that says that something does not exist. */
const missingText = /\b(?:was |is |were |are )?not found\b|\bdoes not exist\b|\bno such\b/i;

/** How an object reads that only looks like a success. */
const errorStatus = /^(?:error|errored|fail|failed|failure)$|not[_ -]?found$/i;

/** Checks if a result that is no error reads like one. */
export function readsLikeError(outcome: Outcome): boolean {
  if (outcome.kind !== 'result' || outcome.isError) return false;
  const text = readOutcomeText(outcome);
  const value = tryParseJson(text);
  if (isRecord(value)) return isErrorObject(value);
  return errorTexts.some((form) => form.test(text)) || (/^\s*[^\n]{1,200}\s*$/.test(text) && missingText.test(text));
}

/** Checks if an object says that the call failed, as APIs do: `{"status": "error"}`, `{"success": false}` or `{"error": "…"}`. */
function isErrorObject({ status, success, ok, error }: JsonObject): boolean {
  if (success === false || ok === false) return true;
  if (typeof status === 'string' && errorStatus.test(status)) return true;
  return (typeof error === 'string' && error.trim() !== '') || isRecord(error);
}
