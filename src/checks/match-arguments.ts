import { isJsonEqual, isRecord, type JsonObject } from '../base/json.ts';
import type { ArgumentMatching } from './parts.ts';

const placeholders: Record<string, (value: unknown) => boolean> = {
  any: (value) => value !== undefined,
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  boolean: (value) => typeof value === 'boolean',
  object: isRecord,
  array: Array.isArray,
  null: (value) => value === null,
};

/**
 * Checks if the arguments of a call match the expected ones.
 *
 * `partial` compares only the expected top-level keys. There, the words `any`, `string`, `number`, `boolean`, `object`, `array` and `null`
 * (trimmed, in any case) stand for a type and cannot be meant literally; nested values are compared as a whole. `exact` compares the
 * documents, without such words. `ignore` accepts anything.
 */
export function matchesArguments(expected: JsonObject, actual: JsonObject, matching: ArgumentMatching): boolean {
  if (matching === 'ignore') return true;
  if (matching === 'exact') return isJsonEqual(expected, actual);
  return Object.entries(expected).every(([key, value]) =>
    matchesValue(value, Object.hasOwn(actual, key) ? actual[key] : undefined),
  );
}

function matchesValue(expected: unknown, actual: unknown): boolean {
  const word = typeof expected === 'string' ? expected.trim().toLowerCase() : '';
  const placeholder = Object.hasOwn(placeholders, word) ? placeholders[word] : undefined;
  return placeholder === undefined ? isJsonEqual(expected, actual) : placeholder(actual);
}
