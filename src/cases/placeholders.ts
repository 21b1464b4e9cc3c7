import { escapePointerToken } from '../base/json-pointer.ts';
import { isRecord } from '../base/json.ts';
import type { Assertion } from '../checks/assertion.ts';
import type { Answer, AnswerCondition, ClientOffer } from '../model/client-abilities.ts';
import type { Step } from './step.ts';

/** Begins the name of a variable of the job. */
export const variablePrefix = 'env.';

/** Names that mean the same in every case. */
export const builtInNames: readonly string[] = ['iteration', 'uuid'];

/** Says why a capture or a column cannot have a name; null where it can. */
export function findNameProblem(name: string): string | null {
  if ([...builtInNames, 'env'].includes(name)) return `The name \`${name}\` is reserved; choose another`;
  return /^[A-Za-z_][A-Za-z0-9_-]*$/.test(name)
    ? null
    : `${JSON.stringify(name)} is not a name; use letters, digits, \`-\` and \`_\`, and begin with a letter`;
}

/** `\{{`, which stands for the text `{{`; a placeholder; or a `{{` that is neither. */
const token = /\\\{\{|\{\{[ \t]*([A-Za-z_][A-Za-z0-9_-]*(?:\.[A-Za-z_][A-Za-z0-9_]*)?)[ \t]*\}\}|\{\{/g;

/** How a text is filled in. */
export interface Filling {
  /** The value of a name; null leaves the placeholder as it is. */
  find(name: string): { value: unknown } | null;
  /** Whether nothing is filled in after this: `\{{` becomes `{{`. Else it stays, and values are escaped in the same way. */
  isFinal: boolean;
}

/** For a text without placeholders: `\{{` becomes `{{`. */
export const plainText: Filling = { find: () => null, isFinal: true };

/** Puts a value into a text that has a syntax of its own. */
type Quote = (text: string) => string;

const keepText: Quote = (text) => text;

/** What a text has in it of placeholders. */
export interface Placeholders {
  /** The names, each time that they are used. */
  names: string[];
  /** What follows each `{{` that begins no placeholder, cut. */
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

/** Fills in each text in a value. A text that is one placeholder and nothing else becomes the value itself, of whatever type. */
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

/** The name of the placeholder that is all of a text; null where there is more, or none. */
export function readWhole(text: string): string | null {
  const [first] = text.matchAll(token);
  return first?.[0] === text ? (first[1] ?? null) : null;
}

/** Fills in a text that stays one, whatever its values are. */
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

/** In a text, texts stand as they are, and other values as JSON. */
function printInText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Makes a value stand for itself where placeholders are filled in: `{{` in its texts becomes `\{{`. */
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

/** In a regular expression, `\{{` means the text `{{` already. */
function quotePattern(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}

/** Puts a letter where a pattern has placeholders, so that the pattern can be checked before their values are known. */
export function blankPattern(pattern: string): string {
  return fillPart(pattern, { find: () => ({ value: 'x' }), isFinal: true }, quotePattern);
}

/** What placeholders may stand in. A root or an answer of a client may be a text alone. */
export type Fillable = Step | Assertion | ClientOffer | Answer | AnswerCondition;

/**
 * Fills in a step, a check or another assertion, or what a client offers. Its data keeps the types of values, and its other texts stay
 * texts. In a pattern, values count as plain text, and in a pointer as one key.
 */
export function fillParts<T extends Fillable>(part: T, filling: Filling): T;
export function fillParts(part: object | string, filling: Filling): unknown {
  return typeof part === 'string' ? fillAsText(part, filling) : fillFields(part, filling);
}

function fillFields(part: object, filling: Filling): unknown {
  return Object.fromEntries(Object.entries(part).map(([key, value]) => [key, fillField(key, value, filling)]));
}

/** Fields that may have any JSON value. */
const dataFields: ReadonlySet<string> = new Set(['arguments', 'args', 'value', 'accept', 'input']);

/** Fields that have a regular expression. */
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
  const entries = Object.entries(capture).map(([name, pointer]) => [
    name,
    typeof pointer === 'string' ? fillPart(pointer, filling, escapePointerToken) : pointer,
  ]);
  return Object.fromEntries(entries);
}

/** Keywords of JSON Schema whose value is data. */
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
