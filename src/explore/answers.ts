import { isRecord, type JsonObject, tryParseJson } from '../base/json.ts';
import type { Observation, ObservedStep, Outcome } from './exploration.ts';
import { readOutcomeText } from './stability/texts.ts';

/** Checks if a request was answered as a caller hopes: with a result that is no error, and does not read like one. */
export function isAnswered({ outcome }: Pick<Observation, 'outcome'>): boolean {
  return outcome.kind === 'result' && !outcome.isError && !readsLikeError(outcome);
}

/** Checks if the server refused the request, and said so, with or without the flag of an error. */
export function isRefused({ outcome }: Pick<Observation, 'outcome'>): boolean {
  return outcome.kind === 'error' || (outcome.kind === 'result' && outcome.isError) || readsLikeError(outcome);
}

/** Checks if the server refused a request that is no call: no schema says what is wrong with it, so that its refusal shows little. */
export function isUnexplained(step: Pick<ObservedStep, 'request' | 'observation'> | undefined): boolean {
  return step !== undefined && step.request.kind !== 'tool' && isRefused(step.observation);
}

/** Lists the values with which an argument is completed. */
export function listCompleted(outcome: Outcome): string[] {
  const completion = outcome.kind === 'result' ? outcome.result['completion'] : null;
  const values = isRecord(completion) && Array.isArray(completion['values']) ? completion['values'] : [];
  return values.filter((value) => typeof value === 'string');
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
  /^\s*(?:error|fatal|failed|failure|invalid|unable to|could not|cannot|can't|access denied|permission denied|must (?:provide|specify))\b/i,
  /^Traceback \(most recent call last\)|^panic: /,
];

/** One line that says that something does not exist, or that there is less of it. */
const missingText = /\b(?:was |is |were |are )?not found\b|\bdoes not exist\b|\bno such\b|\bout of (?:range|bounds)\b/i;

/** A longer text quotes an error rather than being one. */
const longestRefusal = 2000;

/** What runtimes and validators write, which reaches an answer only when something failed. */
const thrownText =
  /\bis not valid JSON\b|\bUnexpected end of JSON input\b|\bExpecting value: line \d+ column \d+|\bE(?:NOENT|ACCES|PERM|EXIST|NOTDIR|ISDIR|CONNREFUSED): |\bCannot read propert(?:y|ies) of (?:undefined|null)\b|"code": ?"(?:invalid_\w+|too_small|too_big|unrecognized_keys)"/;

/** The status of a document that only looks like a success. */
const errorStatus = /^(?:error|errored|fail|failed|failure)$|not[_ -]?found$/i;

/** Checks if a result that is no error reads like one. */
export function readsLikeError(outcome: Outcome): boolean {
  if (outcome.kind !== 'result' || outcome.isError) return false;
  const text = readOutcomeText(outcome);
  const document = readDocument(outcome.result['structuredContent']) ?? tryParseJson(text);
  if (isRecord(document)) return isFailure(document);
  if (text.length <= longestRefusal && thrownText.test(text)) return true;
  return errorTexts.some((form) => form.test(text)) || (/^\s*[^\n]{1,200}\s*$/.test(text) && missingText.test(text));
}

/** Returns the document of a structured result; frameworks wrap a text, and other values without names, in `result`. */
function readDocument(structured: unknown): JsonObject | null {
  if (!isRecord(structured)) return null;
  const { result, ...others } = structured;
  if (result === undefined || Object.keys(others).length > 0) return structured;
  return isRecord(result) ? result : null;
}

const isNoSuccess = ({ success, ok }: JsonObject) => success === false || ok === false;

/**
 * Checks if a document says of itself that it reports a failure: its status is one, it is no success, all it has is a list of what was no
 * success, or an error.
 */
function isFailure(document: JsonObject): boolean {
  const { status, error } = document;
  if (isNoSuccess(document)) return true;
  const [only, ...others] = Object.values(document);
  if (others.length === 0 && Array.isArray(only) && only.length > 0) {
    return only.every((entry) => isRecord(entry) && isNoSuccess(entry));
  }
  if (typeof status === 'string' && errorStatus.test(status)) return true;
  const hasError = (typeof error === 'string' && error.trim() !== '') || isRecord(error);
  return hasError && Object.keys(document).length === 1;
}
