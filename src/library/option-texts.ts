import { ConfigurationError, type ConfigurationIssue } from '../base/errors.ts';
import { isRecord, writeJson } from '../base/json.ts';
import { appendAll } from '../base/lists.ts';
import type { Secret } from '../base/redaction.ts';
import { toOptionKey, toOptionName } from '../gate/options/define-option.ts';
import { listOptions } from '../gate/options/list.ts';
import { type GateOptions, gateOptions } from '../gate/options/schema.ts';
import { readValues } from '../gate/options/table.ts';
import { readForm, type ValueForm } from '../gate/options/values.ts';
import type { ConcurrencySetting } from '../model/concurrency.ts';
import { suggestNearest } from '../suite/findings.ts';
import type { PolicyInput } from '../suite/policy-schema.ts';
import type { SuiteInput } from '../suite/suite-schema.ts';

/** What a program gives for an option that is parsed to a value of this type. */
type Given<Value> = Value extends null
  ? never
  : Value extends Secret
    ? string
    : Value extends ReadonlyMap<string, infer Named>
      ? Readonly<Record<string, Named extends Secret ? string : Named>>
      : Value extends readonly string[]
        ? string | readonly string[]
        : Value;

/** Options whose parsed value has another form than what a program gives. */
interface OwnForms {
  base: string | readonly string[];
  concurrency: ConcurrencySetting;
  mcpConfig: string;
  /** Paths or globs of files, and suites as the values that files would have. */
  evals: string | SuiteInput | ReadonlyArray<string | SuiteInput>;
  policy: string | PolicyInput;
  publish: never;
  merge: never;
  reportTo: string | readonly string[];
  serverOauth: string | readonly string[];
  /** A list of cases or an evals document, as text or as the value that a file would have. */
  tests: string | SuiteInput | SuiteInput['cases'];
}

/**
 * The options of a gate, by the names of the action's inputs in camel case. Durations are in milliseconds and rates are fractions from 0 to 1;
 * a duration or a rate may also be a text as in a workflow, such as `10m` or `90%`. An option that is undefined has its default.
 */
export type GivenOptions = {
  readonly [Key in Exclude<keyof GateOptions, 'publish' | 'merge'>]?:
    | (Key extends keyof OwnForms ? OwnForms[Key] : Given<GateOptions[Key]>)
    | undefined;
};

/**
 * Writes options as the texts that the command would have, so that both are parsed and checked by the same rules. Unknown names and values
 * that no option has are issues. `names` limits the options, and `others` are further keys that the caller has.
 */
export function writeOptionTexts(
  given: Readonly<Record<string, unknown>>,
  { names, others = [] }: { names?: readonly string[]; others?: readonly string[] } = {},
): {
  texts: Record<string, string>;
  issues: ConfigurationIssue[];
} {
  const definitions = new Map(
    Object.entries(gateOptions.definitions).filter(([key]) => names === undefined || names.includes(key)),
  );
  const known = [...definitions.keys(), ...others];
  const texts: Record<string, string> = {};
  const issues = findUnknownNames(given, known);
  for (const [key, value] of Object.entries(given)) {
    const definition = definitions.get(key);
    if (value === undefined || definition === undefined) continue;
    const written = writeValue(value, readForm(definition.schema));
    if ('text' in written) texts[toOptionName(key)] = written.text;
    else issues.push({ input: key, code: 'bad-option-type', message: written.problem });
  }
  // Without issues, the values are read together with the rules between options.
  if (issues.length > 0) appendAll(issues, useOwnNames(readValues(gateOptions, texts).issues));
  return { texts, issues };
}

/** Finds options that have none of these names, whose value would otherwise be ignored. */
export function findUnknownNames(given: object, known: readonly string[]): ConfigurationIssue[] {
  return Object.entries(given)
    .filter(([key, value]) => value !== undefined && !known.includes(key))
    .map(([input]) => ({ input, code: 'unknown-option', message: `is no option${suggestNearest(input, known)}` }));
}

type Written = { text: string } | { problem: string };

function writeValue(value: unknown, form: ValueForm): Written {
  if (typeof value === 'string') return { text: value };
  if (typeof value === 'boolean' && form.hint === '[bool]') return { text: String(value) };
  if (typeof value === 'number' && form.unit !== undefined) return { text: writeNumber(value, form.unit) };
  if (Array.isArray(value) && form.isList === true) return writeList(value);
  const isObject = typeof value === 'object' && value !== null;
  if (!isObject || form.write === undefined) return { problem: refuseType(value, listTypes(form)) };
  try {
    return { text: form.write(value) };
  } catch (error) {
    if (error instanceof TypeError) return { problem: error.message };
    throw error;
  }
}

/** @throws {ConfigurationError} for a suite that no file can have. `input` is its name among the options. */
export function writeSuite(suite: object, input: string): string {
  const written = writeValue(suite, { write: writeJson });
  if ('text' in written) return written.text;
  throw new ConfigurationError([{ input, code: 'bad-option-type', message: written.problem }]);
}

function writeNumber(value: number, unit: NonNullable<ValueForm['unit']>): string {
  if (unit === 'milliseconds') return `${value}ms`;
  // Four decimals of a percentage are the precision of a rate.
  return unit === 'fraction' ? `${Number((value * 100).toFixed(4))}%` : String(value);
}

function writeList(entries: readonly unknown[]): Written {
  const broken = entries.findIndex((entry) => typeof entry !== 'string' || /[\r\n]/.test(entry));
  if (broken === -1) return { text: entries.join('\n') };
  const problem = typeof entries[broken] === 'string' ? 'has a line break' : `is ${describeType(entries[broken])}`;
  return { problem: `has an entry ${broken + 1} that ${problem}; give texts of one line` };
}

/** @throws {ConfigurationError} unless the options of a function are an object, as a program without types may forget */
export function requireOptions(given: unknown): void {
  if (isRecord(given)) return;
  const message = given === undefined ? 'are missing; give an object' : refuseType(given, 'an object');
  throw new ConfigurationError([{ input: 'options', code: 'bad-option-type', message }]);
}

/** Says that an option cannot have a value. `wanted` is what it can be. */
export function refuseType(value: unknown, wanted: string): string {
  return `${value === undefined ? 'is missing' : `cannot be ${describeType(value)}`}; give ${wanted}`;
}

export function describeType(value: unknown): string {
  if (value === null) return 'null';
  if (value === undefined) return 'undefined';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

function listTypes({ hint, unit, isList, write }: ValueForm): string {
  if (hint === '[bool]') return 'true or false';
  const units = { milliseconds: 'a number of milliseconds', fraction: 'a number from 0 to 1', count: 'a number' };
  const types = [
    ...(unit === undefined ? [] : [units[unit]]),
    ...(isList === true ? ['a list of texts'] : []),
    ...(write === undefined ? [] : ['an object']),
    'a text',
  ];
  return types.length === 1 ? types.join('') : `${types.slice(0, -1).join(', ')} or ${types.at(-1)}`;
}

/** A program knows options by their names in camel case. */
export function throwWithOwnNames(error: unknown): never {
  if (!(error instanceof ConfigurationError)) throw error;
  throw new ConfigurationError(useOwnNames(error.issues), { cause: error });
}

function useOwnNames(issues: readonly ConfigurationIssue[]): ConfigurationIssue[] {
  const names = new Set(listOptions().map(({ name }) => name));
  const rename = (name: string) => (names.has(name) ? toOptionKey(name) : name);
  return issues.map(({ input, message, ...issue }) => ({
    ...issue,
    ...(input !== undefined && { input: rename(input) }),
    message: message.replaceAll(/(?<=`)[a-z]+(?:-[a-z]+)+(?=[`:])/g, rename),
  }));
}
