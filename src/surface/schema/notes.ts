import { isRecord, printCanonicalJson } from '../../base/json.ts';
import { joinPath } from './compare-objects.ts';
import { noteKeywords, isUnknownKeyword, openDocument, resolveReference, type SchemaDocument } from './keywords.ts';
import { spend, type Work } from './work.ts';

/** A changed keyword that does not affect the set of valid values. */
export interface NoteChange {
  /** The path as in SchemaChange. */
  path: string;
  keyword: string;
  before: unknown;
  after: unknown;
}

/** The notes of each part of a schema for people, models and programs, by path. */
type Notes = Map<string, Record<string, unknown>>;

/** The most levels of a schema that are read; notes of deeper parts hardly matter. */
const maxDepth = 30;

/**
 * Lists the notes in which two schemas differ, at the paths that both have. The notes of each part include those of the schema that it
 * refers to.
 *
 * @throws {TooMuchWorkError} once `work` is used up
 */
export function compareNotes(before: unknown, after: unknown, work: Work): NoteChange[] {
  const [from, to] = [readNotes(before, work), readNotes(after, work)];
  // Stores the texts, because references lead to the same value many times.
  const texts = new Map<unknown, string>();
  const print = (value: unknown) => {
    const text = texts.get(value) ?? printCanonicalJson(value);
    texts.set(value, text);
    return text;
  };
  const changes: NoteChange[] = [];
  for (const [path, own] of from) {
    const other = to.get(path);
    if (other === undefined) continue;
    for (const keyword of [...new Set([...Object.keys(own), ...Object.keys(other)])].toSorted()) {
      if (print(own[keyword]) === print(other[keyword])) continue;
      changes.push({ path, keyword, before: own[keyword], after: other[keyword] });
    }
  }
  return changes;
}

function readNotes(schema: unknown, work: Work): Notes {
  const notes: Notes = new Map();
  const located = openDocument(schema, work);
  collect(located.schema, { path: '', depth: 0, notes, root: located.root });
  return notes;
}

interface Reading {
  path: string;
  depth: number;
  notes: Notes;
  root: SchemaDocument;
}

function collect(schema: unknown, reading: Reading): void {
  const { path, depth, notes, root } = reading;
  root.left -= 1;
  spend(root.work, 1);
  if (!isRecord(schema) || depth > maxDepth || root.left < 0) return;
  const known = notes.get(path) ?? {};
  // The note closest to a value wins, since it is the most specific.
  for (const [keyword, value] of Object.entries(schema)) {
    if (isNote(keyword) && known[keyword] === undefined) known[keyword] = value;
  }
  notes.set(path, known);
  const inner = (part: unknown, at: string) => collect(part, { ...reading, path: at, depth: depth + 1 });
  if (schema['$ref'] !== undefined) inner(resolveReference(schema['$ref'], root), path);
  for (const part of listParts(schema['allOf'])) inner(part, path);
  for (const keyword of ['anyOf', 'oneOf']) {
    const branches = listParts(schema[keyword]);
    for (const [index, part] of branches.entries()) inner(part, isNull(part) ? `${path}|null` : `${path}|${index}`);
  }
  const properties = schema['properties'];
  if (isRecord(properties)) {
    for (const [name, part] of Object.entries(properties)) inner(part, joinPath(path, name));
  }
  if (isRecord(schema['items'])) inner(schema['items'], `${path}[]`);
  for (const [index, part] of listParts(schema['prefixItems']).entries()) inner(part, `${path}[${index}]`);
  if (isRecord(schema['additionalProperties'])) inner(schema['additionalProperties'], path === '' ? '*' : `${path}.*`);
}

function isNote(keyword: string): boolean {
  return noteKeywords.has(keyword) || isUnknownKeyword(keyword);
}

function listParts(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function isNull(part: unknown): boolean {
  return isRecord(part) && part['type'] === 'null';
}
