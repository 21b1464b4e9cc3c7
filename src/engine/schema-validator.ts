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
  /** Each mismatch gives its location and the expectation, such as `/total must be number`; at most 1,000. */
  | { kind: 'invalid'; mismatches: string[] }
  /** The schema cannot be used: it is invalid, has an unknown dialect, or refers to a missing schema. */
  | { kind: 'unusable'; reason: string }
  /** The schema refers to itself deeper than the stack allows. */
  | { kind: 'endless' };

/** A value to validate against a schema. */
export interface SchemaJob {
  /** The schema as JSON. */
  schema: string;
  value: unknown;
  /** Formats are annotations unless this is set (JSON Schema 2020-12 §7.2.1). */
  checksFormats: boolean;
  /** True if each mismatch starts with its class, such as `missing required`. */
  namesClasses?: boolean;
}

/** A suite has few schemas and uses them often. Above this number, all compiled schemas are discarded. */
const maxCompiledSchemas = 200;

/** Only the first mismatch is reported for values with more parts. */
const maxParts = 20_000;

const maxMismatches = 1000;
const longestMismatch = 1000;

/**
 * Ignores unknown keywords, as JSON Schema 2020-12 §4.3.1 requires. Matches patterns in linear time, because schema and value can be
 * hostile. Never fetches a schema.
 */
const options: Options = {
  strict: false,
  logger: false,
  code: { regExp: Object.assign(compilePattern, { code: 'undefined' }) },
};

interface Mode extends Pick<SchemaJob, 'checksFormats'> {
  findsAll: boolean;
}

/** A validator keeps everything that it compiled, so it is replaced together with its schemas. */
interface Compiler {
  draft2020: Ajv2020;
  draft07: Ajv;
  /** Maps the text of a schema to its compiled validation, or to the reason why it cannot be used. */
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
 * Validates a JSON value against a JSON Schema: draft-07 if `$schema` says so, else 2020-12. Finds all mismatches, unless the value is
 * large. `onInvalid` gets the first mismatch before the search for others starts. Never throws, and may never return.
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
  // Finding all mismatches takes longer the more there are, so it runs only for values that are known to be invalid.
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

/** Counts the parts of a value, up to one more than `maxParts`. */
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
    // The compiler needs the schema for references to its root. Removes it afterwards, because another schema may have the same $id.
    if (typeof schema === 'object') validator.removeSchema(schema);
  }
}

function isDraft07(schema: JsonObject | boolean): boolean {
  const dialect = typeof schema === 'boolean' ? undefined : schema['$schema'];
  return typeof dialect === 'string' && /^https?:\/\/json-schema\.org\/draft-07\/schema#?$/.test(dialect);
}

function compilePattern(pattern: string): { test(text: string): boolean; toString(): string } {
  const expression = RE2JS.compile(pattern);
  // The validator identifies patterns by their printed form, as with regular expressions.
  return { test: (text) => expression.matcher(text).find(), toString: () => `/${pattern}/` };
}

/** The named classes of mismatches, by keyword. */
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

/** The longest text for a backtracking expression. The formats that need one describe names, which are short. */
const maxBacktrackedLength = 2048;

/** Lists the formats that evals files may use, for a validator. Matches in linear time, because the text comes from a server. */
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

/** Returns null if the expression uses look-around, which RE2 does not support. */
function compileLinear({ source, ignoreCase }: RegExp): RE2JS | null {
  try {
    return RE2JS.compile(source, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
  } catch {
    return null;
  }
}
