import { isRecord } from '../../base/json.ts';
import { parseSource } from '../../suite/source-document.ts';

/** A text within quotes; longer ones are sentences. */
const quoted = /(?<![\w])(['"`])([^'"`\n]{1,80})\1(?![\w])/g;

/** A list after "e.g.", up to the end of its bracket or sentence. */
const examples =
  /\b(?:e\.g\.|eg\.|for example|examples?|such as|like|one of|either|options(?: are)?|values(?: are)?|supported|accepts?)[,:]?\s+([^()\n]{1,200}?)(?:\)|\.\s|\.$|;|$)/gi;

const allowedWord = /^[\w@#.:/*+%-]{1,40}$/;

/** Finds values that a description names: in quotes, and in lists after "e.g." and the like. */
export function findDescribedValues(description: string): string[] {
  const inQuotes = [...description.matchAll(quoted)].map(([, , text]) => text ?? '');
  const inLists = [...description.matchAll(examples)].flatMap(([, list = '']) =>
    list
      .split(/,|\bor\b|\band\b|\|/)
      .map((part) => part.trim().replaceAll(/^['"`]|['"`]$/g, ''))
      .filter((part) => allowedWord.test(part)),
  );
  return [...new Set([...inQuotes, ...inLists])].filter((text) => text.trim() !== '');
}

/** A line with a name and a list of words: `- length: mm, cm, m`. */
const listLine = /^\s*(?:[-*•]\s+)?[\w ]{1,40}:\s*(\S{1,20}(?:,\s*\S{1,20})+)\s*$/gm;

/** Finds the lists of words that a description gives a name each, such as the units of each quantity. */
export function findDescribedLists(description: string): string[][] {
  return [...description.matchAll(listLine)].map(([, list = '']) => list.split(/,\s*/));
}

/** The longest example of a document that is read. */
const maxDocument = 4000;

/**
 * Finds the example of a list or an object in a description, in JSON or as JavaScript writes it: whole, and without its members that hold
 * lists and objects, which are often optional and full of placeholders.
 */
export function findDescribedDocuments(description: string): unknown[] {
  const text = findBalanced(description.slice(0, maxDocument));
  // An object literal, with names and texts without double quotes, is a flow collection of YAML.
  const parsed = text === null ? null : parseSource(text, 'description');
  const document = parsed?.findings.length === 0 ? parsed.document?.value : undefined;
  if (!isDocument(document)) return [];
  const isFlat = (value: unknown) => typeof value !== 'object' || value === null;
  const flatten = (value: unknown): unknown =>
    isRecord(value) ? Object.fromEntries(Object.entries(value).filter(([, member]) => isFlat(member))) : value;
  const flat = Array.isArray(document) ? document.map(flatten) : flatten(document);
  return [...(Array.isArray(flat) ? [flat.slice(0, 1)] : []), flat, document];
}

/** Checks if an example has members: a list of words in brackets is as often a remark. */
function isDocument(value: unknown): value is unknown[] | Record<string, unknown> {
  const members = isRecord(value) ? [value] : Array.isArray(value) ? value : [];
  return (
    members.length > 0 &&
    members.every((member) => isRecord(member) && Object.values(member).some((each) => each !== null))
  );
}

/** Returns the first text from `[{` or `{` to the bracket that closes it. */
function findBalanced(text: string): string | null {
  const start = /\[\s*\{|\{\s*["'\w]+\s*:/.exec(text)?.index;
  if (start === undefined) return null;
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    const character = text.charAt(at);
    if ('[{'.includes(character)) depth += 1;
    if (']}'.includes(character)) depth -= 1;
    if (depth === 0) return text.slice(start, at + 1);
  }
  return null;
}

/** Reads a described text as a value of a type; undefined if it is none. */
export function readAs(type: string | undefined, text: string): unknown {
  if (type === 'number' || type === 'integer') {
    const number = Number(text);
    return text.trim() !== '' && Number.isFinite(number) && (type === 'number' || Number.isInteger(number))
      ? number
      : undefined;
  }
  if (type === 'boolean') return text === 'true' ? true : text === 'false' ? false : undefined;
  return type === undefined || type === 'string' ? text : undefined;
}
