import { Ajv, type ErrorObject, type Format, type Options, type ValidateFunction } from 'ajv';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { RE2JS } from 're2js';
import { clipText } from '../base/text.ts';
import { describeError } from '../base/errors.ts';
import type { JsonObject } from '../base/json.ts';
import { checkedFormats } from '../suite/schema-problems.ts';

export type SchemaJudgement =
  | { kind: 'valid' }
  /** Each mismatch names its location and what was expected there, such as `/total must be number`; at most 1,000 of them. */
  | { kind: 'invalid'; mismatches: string[] }
  /** The schema cannot be used: not a schema, an unknown dialect, a reference it does not contain. */
  | { kind: 'unusable'; reason: string }
  /** The schema calls itself deeper than the stack. */
  | { kind: 'endless' };

/** One value to judge by one schema. */
export interface SchemaJob {
  /** The schema as JSON. */
  schema: string;
  value: unknown;
  /** Formats are annotations unless this is set (JSON Schema 2020-12 §7.2.1). */
  checksFormats: boolean;
  /** Whether a mismatch says first of which class it is, such as `missing required`. */
  namesClasses?: boolean;
}

/** Schemas of a suite are few and judged often. Beyond this many, everything compiled so far is let go. */
const maxCompiledSchemas = 200;

/** Values of more parts than this are searched for their first mismatch alone. */
const maxParts = 20_000;

const maxMismatches = 1000;
const longestMismatch = 1000;

/**
 * Unknown keywords are ignored, as JSON Schema 2020-12 §4.3.1 has it. Patterns run in linear time, since neither the schema
 * nor the value need be friendly. Nothing is ever fetched.
 */
const options: Options = {
  strict: false,
  logger: false,
  code: { regExp: Object.assign(compilePattern, { code: 'undefined' }) },
};

interface Mode extends Pick<SchemaJob, 'checksFormats'> {
  findsAll: boolean;
}

/** A validator never forgets what it compiled, so it is replaced together with the schemas it was used for. */
interface Compiler {
  draft2020: Ajv2020;
  draft07: Ajv;
  /** By the schema's text: its validation, or why it cannot be used. */
  compiled: Map<string, ValidateFunction | string>;
}

const compilers = new Map<string, Compiler>();

function openCompiler(mode: Mode): Compiler {
  const key = `${mode.checksFormats} ${mode.findsAll}`;
  const known = compilers.get(key);
  if (known !== undefined && known.compiled.size < maxCompiledSchemas) return known;
  const formats = mode.checksFormats ? { formats: listFormats() } : { validateFormats: false };
  const own = { ...options, ...formats, allErrors: mode.findsAll };
  const compiler = { draft2020: new Ajv2020(own), draft07: new Ajv(own), compiled: new Map() };
  compilers.set(key, compiler);
  return compiler;
}

/**
 * Judges a JSON value by a JSON Schema: 2020-12, or draft-07 where `$schema` says so. Finds all mismatches, unless the value is
 * large; `onInvalid` gets the first one before the search for the others begins. Never throws, and may take for ever.
 */
export function judgeBySchema(job: SchemaJob, onInvalid: (judgement: SchemaJudgement) => void): SchemaJudgement {
  try {
    return validateValue(job, onInvalid);
  } catch (error) {
    return error instanceof RangeError ? { kind: 'endless' } : { kind: 'unusable', reason: describeError(error) };
  }
}

function validateValue(
  { schema, value, checksFormats, namesClasses = false }: SchemaJob,
  onInvalid: (judgement: SchemaJudgement) => void,
): SchemaJudgement {
  // Finding all takes the longer the more is wrong, so that it is left to values known to be wrong.
  const validate = compileSchema(schema, { checksFormats, findsAll: false });
  if (typeof validate === 'string') return { kind: 'unusable', reason: validate };
  if (validate(value)) return { kind: 'valid' };
  const first = describeErrors(validate, namesClasses);
  onInvalid(first);
  const all = countParts(value) > maxParts ? validate : compileSchema(schema, { checksFormats, findsAll: true });
  return typeof all === 'string' || all(value) ? first : describeErrors(all, namesClasses);
}

function describeErrors({ errors }: ValidateFunction, namesClasses: boolean): SchemaJudgement {
  const mismatches = new Set<string>();
  for (const error of errors ?? []) {
    mismatches.add(namesClasses ? classifyMismatch(error) : describeMismatch(error));
    if (mismatches.size === maxMismatches) break;
  }
  return { kind: 'invalid', mismatches: [...mismatches] };
}

/** Counts up to one more than are looked through. */
function countParts(value: unknown): number {
  const open = [value];
  for (let counted = 0; counted <= maxParts; counted += 1) {
    const part = open.pop();
    if (typeof part === 'object' && part !== null) open.push(...Object.values(part).slice(0, maxParts + 1));
    if (open.length === 0) return counted;
  }
  return maxParts + 1;
}

function compileSchema(schema: string, mode: Mode): ValidateFunction | string {
  const compiler = openCompiler(mode);
  const known = compiler.compiled.get(schema);
  if (known !== undefined) return known;
  const validate = tryCompile(schema, compiler);
  compiler.compiled.set(schema, validate);
  return validate;
}

function tryCompile(text: string, compiler: Compiler): ValidateFunction | string {
  const schema: JsonObject | boolean = JSON.parse(text);
  const validator = isDraft07(schema) ? compiler.draft07 : compiler.draft2020;
  try {
    return validator.compile(schema);
  } catch (error) {
    return describeError(error);
  } finally {
    // It has to be known while it is compiled, for references to its root; another may claim the same $id.
    if (typeof schema === 'object') validator.removeSchema(schema);
  }
}

function isDraft07(schema: JsonObject | boolean): boolean {
  const dialect = typeof schema === 'boolean' ? undefined : schema['$schema'];
  return typeof dialect === 'string' && /^https?:\/\/json-schema\.org\/draft-07\/schema#?$/.test(dialect);
}

function compilePattern(pattern: string): { test(text: string): boolean; toString(): string } {
  const expression = RE2JS.compile(pattern);
  // The validator distinguishes patterns by what they print as, the way regular expressions do.
  return { test: (text) => expression.matcher(text).find(), toString: () => `/${pattern}/` };
}

/** The classes of mismatches that have a name, by the keyword that says so. */
const mismatchClasses = new Map([
  ['required', 'missing required'],
  ['dependentRequired', 'missing required'],
  ['type', 'wrong type'],
  ['enum', 'not in enum'],
  ['const', 'not in enum'],
  ['additionalProperties', 'forbidden key'],
  ['unevaluatedProperties', 'forbidden key'],
  ['propertyNames', 'forbidden key'],
]);

function classifyMismatch(error: ErrorObject): string {
  const name = mismatchClasses.get(error.keyword);
  return name === undefined ? describeMismatch(error) : `${name} (${describeMismatch(error)})`;
}

function describeMismatch({ keyword, instancePath, message, params }: ErrorObject): string {
  const detail = keyword === 'additionalProperties' ? `: ${JSON.stringify(params['additionalProperty'])}` : '';
  return clipText(`${instancePath || 'it'} ${message ?? 'does not fit'}${detail}`, longestMismatch);
}

/** What a backtracking expression may be run on; the formats that need one describe names, not documents. */
const maxBacktrackedLength = 2048;

/** The formats that evals files may name, for a validator. Expressions run in linear time, for the text is a server's. */
export function listFormats(): Record<string, Format> {
  const known: Readonly<Record<string, Format>> = fullFormats;
  return Object.fromEntries(
    checkedFormats.map((name) => {
      const format = known[name];
      if (format === undefined) throw new Error(`No check of the format ${name} is known.`);
      return [name, format instanceof RegExp ? boundExpression(format) : format];
    }),
  );
}

function boundExpression(expression: RegExp): (text: string) => boolean {
  let linear: RE2JS | null | undefined;
  return (text) => {
    linear ??= compileLinear(expression);
    if (linear !== null) return linear.matcher(text).find();
    return text.length <= maxBacktrackedLength && expression.test(text);
  };
}

/** Null where the expression looks around. */
function compileLinear({ source, ignoreCase }: RegExp): RE2JS | null {
  try {
    return RE2JS.compile(source, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
  } catch {
    return null;
  }
}
