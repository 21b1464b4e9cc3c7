import type { JsonObject } from '../base/json.ts';
import { checkSchema, type SchemaBudget } from './schema-check.ts';

/** The arguments of a call, and the text of the model that they were read from. */
export interface WrittenArguments {
  text: string;
  values: JsonObject;
}

const longestKept = 10_000;
const maxKept = 100;

/** The mismatches of earlier arguments, by schema and text. */
const keptMismatches = new WeakMap<JsonObject, Map<string, readonly string[]>>();

/**
 * Lists how arguments of a model break the schema of their tool. Iterations repeat the same calls, so it keeps the mismatches of a text:
 * to ask the thread for schemas costs more than the rest of a replayed call. Ignores a schema that cannot be used, because the model did not
 * cause it.
 *
 * @throws the reason of the limit's signal once it aborts.
 */
export async function listArgumentMismatches(
  schema: JsonObject,
  { text, values }: WrittenArguments,
  budget: SchemaBudget,
): Promise<readonly string[]> {
  const kept = keptMismatches.get(schema) ?? new Map<string, readonly string[]>();
  const known = kept.get(text);
  if (known !== undefined) return known;
  const check = await checkSchema(schema, values, { budget });
  const mismatches = check.kind === 'invalid' ? check.mismatches : [];
  // A check that was stopped may have time to end in another iteration.
  if (check.kind === 'stopped' || text.length > longestKept) return mismatches;
  if (kept.size >= maxKept) kept.clear();
  kept.set(text, mismatches);
  keptMismatches.set(schema, kept);
  return mismatches;
}
