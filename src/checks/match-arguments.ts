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
 * Whether the arguments of a call are the expected ones.
 *
 * `partial` looks only at the expected top-level keys, and there the words `any`, `string`, `number`, `boolean`,
 * `object`, `array` and `null` (trimmed, in any case) stand for a type, so that none of them can be meant literally;
 * nested values are compared whole. `exact` compares the documents, without placeholders. `ignore` accepts anything.
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
