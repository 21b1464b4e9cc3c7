import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { RE2JS } from 're2js';
import { describeError } from '../base/errors.ts';
import type { JsonObject } from '../model/assertion.ts';

export type SchemaCheck =
  | { kind: 'valid' }
  /** `mismatch` names the first place and what was expected there, such as `/total must be number`. */
  | { kind: 'invalid'; mismatch: string }
  /** The schema cannot be used: not a schema, an unknown dialect, a reference it does not contain. */
  | { kind: 'unusable'; reason: string };

/** Schemas of a suite are few and judged often. Beyond this many, everything compiled so far is let go. */
const maxCompiledSchemas = 200;

/**
 * Unknown keywords are ignored and formats are annotations, as JSON Schema 2020-12 §4.3.1 and §7.2.1 have it. Patterns
 * run in linear time, since neither the schema nor the value need be friendly. Nothing is ever fetched.
 */
const options: Options = {
  strict: false,
  validateFormats: false,
  addUsedSchema: false,
  logger: false,
  code: { regExp: Object.assign(compilePattern, { code: 'undefined' }) },
};

/** A validator never forgets what it compiled, so it is replaced together with the schemas it was used for. */
interface Compiler {
  draft2020: Ajv2020;
  draft07: Ajv;
  /** By the schema's text: its validation, or why it cannot be used. */
  compiled: Map<string, ValidateFunction | string>;
}

let compiler = createCompiler();

function createCompiler(): Compiler {
  return { draft2020: new Ajv2020(options), draft07: new Ajv(options), compiled: new Map() };
}

/** Checks a JSON value against a JSON Schema: 2020-12, or draft-07 where `$schema` says so. Never throws. */
export function checkSchema(schema: JsonObject | boolean, value: unknown): SchemaCheck {
  const validate = compileSchema(schema);
  if (typeof validate === 'string') return { kind: 'unusable', reason: validate };
  if (validate(value)) return { kind: 'valid' };
  return { kind: 'invalid', mismatch: describeMismatch(validate.errors?.[0]) };
}

function compileSchema(schema: JsonObject | boolean): ValidateFunction | string {
  const key = JSON.stringify(schema);
  const known = compiler.compiled.get(key);
  if (known !== undefined) return known;
  if (compiler.compiled.size === maxCompiledSchemas) compiler = createCompiler();
  const validate = tryCompile(schema);
  compiler.compiled.set(key, validate);
  return validate;
}

function tryCompile(schema: JsonObject | boolean): ValidateFunction | string {
  try {
    return (isDraft07(schema) ? compiler.draft07 : compiler.draft2020).compile(schema);
  } catch (error) {
    return describeError(error);
  }
}

function isDraft07(schema: JsonObject | boolean): boolean {
  const dialect = typeof schema === 'boolean' ? undefined : schema['$schema'];
  return typeof dialect === 'string' && /^https?:\/\/json-schema\.org\/draft-07\/schema#?$/.test(dialect);
}

function compilePattern(pattern: string): { test(text: string): boolean; toString(): string } {
  const expression = RE2JS.compile(pattern);
  // The validator tells patterns apart by what they print as, the way regular expressions do.
  return { test: (text) => expression.matcher(text).find(), toString: () => `/${pattern}/` };
}

function describeMismatch(error: ErrorObject | undefined): string {
  const detail =
    error?.keyword === 'additionalProperties' ? `: ${JSON.stringify(error.params['additionalProperty'])}` : '';
  return `${error?.instancePath || 'it'} ${error?.message ?? 'does not fit'}${detail}`;
}
