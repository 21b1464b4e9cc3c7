import { isRecord, printCanonicalJson } from '../../base/json.ts';
import { joinPath } from './compare-objects.ts';
import { noteKeywords, isUnknownKeyword, openDocument, resolveReference, type SchemaDocument } from './keywords.ts';
import { spend, type Work } from './work.ts';

/** A keyword that changes no set of values, and that is another one now. */
export interface NoteChange {
  /** As in SchemaChange. */
  path: string;
  keyword: string;
  before: unknown;
  after: unknown;
}

/** By path, the notes of each part of a schema that people, models and programs read. */
type Notes = Map<string, Record<string, unknown>>;

/** Levels of a schema that are read; deeper parts are too far away to be read by anyone. */
const maxDepth = 30;

/**
 * Lists in which notes two schemas differ, at the paths that both have. Each part has those of the schema that it refers to, too.
 *
 * @throws {TooMuchWorkError} when `work` is used up
 */
export function compareNotes(before: unknown, after: unknown, work: Work): NoteChange[] {
  const [from, to] = [readNotes(before, work), readNotes(after, work)];
  // References lead to one value many times.
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
  // What stands nearest to a value says most about it.
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
