import { escapePointerToken } from '../base/json-pointer.ts';
import { isRecord } from '../base/json.ts';
import type { Assertion } from '../checks/assertion.ts';
import type { Answer, AnswerCondition, ClientOffer } from '../model/client-abilities.ts';
import type { Step } from './step.ts';

/** Starts the name of a placeholder that reads an environment variable of the job. */
export const variablePrefix = 'env.';

/** Names that every case can use without defining them. */
export const builtInNames: readonly string[] = ['iteration', 'uuid', 'workspace'];

/** The name of the directory that an iteration has for itself, if its suite has a workspace. */
export const workspaceName = 'workspace';

/** Says why a capture or a column cannot have this name; null if it can. */
export function findNameProblem(name: string): string | null {
  if ([...builtInNames, 'env'].includes(name)) return `The name \`${name}\` is reserved; choose another`;
  return /^[A-Za-z_][A-Za-z0-9_-]*$/.test(name)
    ? null
    : `${JSON.stringify(name)} is not a name; use letters, digits, \`-\` and \`_\`, and begin with a letter`;
}

/** Matches `\{{` (an escape for the text `{{`), a placeholder, or a `{{` that is neither. */
const token = /\\\{\{|\{\{[ \t]*([A-Za-z_][A-Za-z0-9_-]*(?:\.[A-Za-z_][A-Za-z0-9_]*)?)[ \t]*\}\}|\{\{/g;

/** Defines how placeholders in a text are replaced. */
export interface Filling {
  /** Returns the value of a name; null leaves the placeholder unchanged. */
  find(name: string): { value: unknown } | null;
  /** True if no later pass replaces placeholders: `\{{` becomes `{{`. If false, `\{{` stays, and `{{` in inserted values is escaped too. */
  isFinal: boolean;
}

/** Finds no names, and turns `\{{` into `{{`: for texts that have no placeholders. */
export const plainText: Filling = { find: () => null, isFinal: true };

/** Escapes a value for a text that has its own syntax, such as a pattern. */
type Quote = (text: string) => string;

const keepText: Quote = (text) => text;

/** The placeholders and escapes that a text contains. */
export interface Placeholders {
  /** The names in order, once for each use. */
  names: string[];
  /** The start of the text (20 characters) at each `{{` that begins no placeholder. */
  malformed: string[];
  hasEscapes: boolean;
}

export function readPlaceholders(text: string): Placeholders {
  const found: Placeholders = { names: [], malformed: [], hasEscapes: false };
  for (const { 0: match, 1: name, index } of text.matchAll(token)) {
    if (name !== undefined) found.names.push(name);
    else if (match === '{{') found.malformed.push(text.slice(index, index + 20));
    else found.hasEscapes = true;
  }
  return found;
}

/** Replaces placeholders in each text of a value. A text that consists of one placeholder becomes its value, of any type. */
export function fillDeep<T>(value: T, filling: Filling): T;
export function fillDeep(value: unknown, filling: Filling): unknown {
  if (typeof value === 'string') return fillText(value, filling);
  if (Array.isArray(value)) return value.map((item) => fillDeep(item, filling));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, fillDeep(member, filling)]));
}

function fillText(text: string, filling: Filling): unknown {
  if (!text.includes('{{')) return text;
  const name = readWhole(text);
  if (name === null) return fillAsText(text, filling);
  const found = filling.find(name);
  if (found === null) return text;
  return filling.isFinal ? found.value : changeTexts(found.value, escape);
}

/** Returns the name if the whole text is one placeholder; else null. */
export function readWhole(text: string): string | null {
  const [first] = text.matchAll(token);
  return first?.[0] === text ? (first[1] ?? null) : null;
}

/** Replaces placeholders in a text; the result is always a text, whatever the values are. */
export function fillAsText(text: string, filling: Filling): string {
  return fillPart(text, filling, keepText);
}

function fillPart(text: string, filling: Filling, quote: Quote): string {
  const { isFinal } = filling;
  return text.replaceAll(token, (match, name: string | undefined) => {
    if (name === undefined) return match !== '{{' && isFinal && quote !== quotePattern ? '{{' : match;
    const found = filling.find(name);
    if (found === null) return match;
    const printed = quote(printInText(found.value));
    return isFinal ? printed : escape(printed);
  });
}

/** Prints a value for insertion in a text: texts unchanged, other values as JSON. */
function printInText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Escapes `{{` in the texts of a value as `\{{`, so that a later pass leaves the value unchanged. */
export function escapePlaceholders(value: unknown): unknown {
  return changeTexts(value, escape);
}

function escape(text: string): string {
  return text.replaceAll('{{', '\\{{');
}

function changeTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((item) => changeTexts(item, change));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, changeTexts(member, change)]));
}

/** Escapes regular expression syntax. Patterns keep `\{{`, because it already matches the text `{{`. */
function quotePattern(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}

/** Replaces the placeholders of a pattern with a letter, so that the pattern can be checked before their values are known. */
export function blankPattern(pattern: string): string {
  return fillPart(pattern, { find: () => ({ value: 'x' }), isFinal: true }, quotePattern);
}

/** The parts of a case that may contain placeholders. A root or an answer of a client can be a plain text. */
export type Fillable = Step | Assertion | ClientOffer | Answer | AnswerCondition;

/**
 * Replaces placeholders in a step, an assertion, or the offer of a client. In data, values keep their types; every other text stays a text.
 * In a pattern, a value is literal text; in a JSON Pointer, it is one key.
 */
export function fillParts<T extends Fillable>(part: T, filling: Filling): T;
export function fillParts(part: object | string, filling: Filling): unknown {
  return typeof part === 'string' ? fillAsText(part, filling) : fillFields(part, filling);
}

function fillFields(part: object, filling: Filling): unknown {
  return Object.fromEntries(Object.entries(part).map(([key, value]) => [key, fillField(key, value, filling)]));
}

/** Fields that hold any JSON value. */
const dataFields: ReadonlySet<string> = new Set(['arguments', 'args', 'value', 'accept', 'input']);

/** Fields that hold a regular expression. */
const patternFields: ReadonlySet<string> = new Set(['pattern', 'matches']);

function fillField(key: string, value: unknown, filling: Filling): unknown {
  if (key === 'schema') return fillSchema(value, filling);
  if (key === 'capture') return fillPointers(value, filling);
  if (dataFields.has(key)) return fillDeep(value, filling);
  if (Array.isArray(value)) return value.map((item) => fillField(key, item, filling));
  if (isRecord(value)) return fillFields(value, filling);
  if (typeof value !== 'string') return value;
  if (patternFields.has(key)) return fillPart(value, filling, quotePattern);
  return fillPart(value, filling, key === 'path' ? escapePointerToken : keepText);
}

function fillPointers(capture: unknown, filling: Filling): unknown {
  if (!isRecord(capture)) return capture;
  const entries = Object.entries(capture).map(([name, part]) => [
    name,
    typeof part === 'string'
      ? fillPart(part, filling, escapePointerToken)
      : isRecord(part)
        ? fillFields(part, filling)
        : part,
  ]);
  return Object.fromEntries(entries);
}

/** Keywords of JSON Schema that hold data, not schemas. */
const dataKeywords: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples']);

function fillSchema(schema: unknown, filling: Filling): unknown {
  if (Array.isArray(schema)) return schema.map((item) => fillSchema(item, filling));
  if (!isRecord(schema)) return fillDeep(schema, filling);
  const entries = Object.entries(schema).map(([key, value]) => {
    if (key === 'pattern' && typeof value === 'string') return [key, fillPart(value, filling, quotePattern)];
    return [key, dataKeywords.has(key) ? fillDeep(value, filling) : fillSchema(value, filling)];
  });
  return Object.fromEntries(entries);
}
