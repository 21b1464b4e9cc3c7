import type { JsonObject } from '../../base/json.ts';
import type { Parameter } from '../schema/parameters.ts';

/** The most requests that are tried to shrink the arguments of one finding. */
const maxTries = 8;

/** A text of at most so many characters stays. */
const shortText = 8;

/**
 * Makes arguments smaller while they still show something: without optional ones, with the first item of each list, and with shorter texts.
 * `shows` is asked at most eight times.
 */
export async function shrinkArguments(
  args: JsonObject,
  parameters: readonly Pick<Parameter, 'name' | 'isRequired'>[],
  shows: (smaller: JsonObject) => Promise<boolean>,
): Promise<JsonObject> {
  const required = new Set(parameters.filter(({ isRequired }) => isRequired).map(({ name }) => name));
  const refused = new Set<string>();
  let smallest = args;
  for (let tries = 0; tries < maxTries; tries += 1) {
    const next = listSmaller(smallest, required).find((smaller) => !refused.has(JSON.stringify(smaller)));
    if (next === undefined) break;
    if (await shows(next)) smallest = next;
    else refused.add(JSON.stringify(next));
  }
  return smallest;
}

/** Lists arguments that are one step smaller. */
function listSmaller(args: JsonObject, required: ReadonlySet<string>): JsonObject[] {
  const names = Object.keys(args);
  const without = names
    .filter((name) => !required.has(name))
    .map((name) => Object.fromEntries(Object.entries(args).filter(([other]) => other !== name)));
  const shorter = names.flatMap((name) => listShorter(args[name]).map((value) => ({ ...args, [name]: value })));
  return [...without, ...shorter];
}

function listShorter(value: unknown): unknown[] {
  if (Array.isArray(value)) return value.length > 1 ? [value.slice(0, 1)] : [];
  // A placeholder has no meaning without its end.
  if (typeof value !== 'string' || value.length <= shortText || value.includes('{{')) return [];
  return [value.slice(0, Math.max(shortText, Math.floor(value.length / 4)))];
}
