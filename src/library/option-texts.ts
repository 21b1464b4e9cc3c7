import { ConfigurationError, type ConfigurationIssue } from '../base/errors.ts';
import { isRecord } from '../base/json.ts';
import type { Secret } from '../base/redaction.ts';
import { toOptionKey, toOptionName } from '../gate/options/define-option.ts';
import { listOptions } from '../gate/options/list.ts';
import { type GateOptions, gateOptions } from '../gate/options/schema.ts';
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
  const issues: ConfigurationIssue[] = [];
  for (const [key, value] of Object.entries(given)) {
    if (value === undefined) continue;
    const definition = definitions.get(key);
    if (definition === undefined) {
      issues.push({ input: key, code: 'unknown-option', message: `is no option${suggestNearest(key, known)}` });
      continue;
    }
    const written = writeValue(value, readForm(definition.schema));
    if ('text' in written) texts[toOptionName(key)] = written.text;
    else issues.push({ input: key, code: 'bad-option-type', message: written.problem });
  }
  return { texts, issues };
}

type Written = { text: string } | { problem: string };

function writeValue(value: unknown, form: ValueForm): Written {
  if (typeof value === 'string') return { text: value };
  if (typeof value === 'boolean' && form.hint === '[bool]') return { text: String(value) };
  if (typeof value === 'number' && form.unit !== undefined) return { text: writeNumber(value, form.unit) };
  if (Array.isArray(value) && form.isList === true) return writeList(value);
  const isObject = typeof value === 'object' && value !== null;
  if (isObject && form.write !== undefined) return { text: form.write(value) };
  return { problem: `cannot be ${describeType(value)}; give ${listTypes(form)}` };
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
  const what = given === undefined ? 'are missing' : `cannot be ${describeType(given)}`;
  const message = `${what}; give an object`;
  throw new ConfigurationError([{ input: 'options', code: 'bad-option-type', message }]);
}

export function describeType(value: unknown): string {
  if (value === null) return 'null';
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
  const names = new Set(listOptions().map(({ name }) => name));
  const issues = error.issues.map((issue) =>
    issue.input !== undefined && names.has(issue.input) ? { ...issue, input: toOptionKey(issue.input) } : issue,
  );
  throw new ConfigurationError(issues, { cause: error });
}
