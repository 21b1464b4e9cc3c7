import { type JsonObject, listTexts } from '../../base/json.ts';
import type { ExploredRequest } from '../../model/explored-request.ts';
import { splitName } from './names.ts';

/** Statements of SQL that change a database, apart from those that only change its settings. */
const writing =
  /^\s*(?:create\s+(?:or\s+replace\s+)?(?:temp(?:orary)?\s+|unique\s+|virtual\s+)?(?:table|view|index|schema|trigger|database|sequence|function)|insert\s+(?:or\s+\w+\s+)?into|replace\s+into|update\s+\S+\s+set|delete\s+from|drop\s+\w+|alter\s+\w+|truncate\s+\w+|attach\s+)\b/i;

const reading = /^\s*(?:select|with|show|pragma|explain|describe|values)\b/i;

/** Checks if an argument is a statement that changes a database, whatever other calls of its tool do. */
export function writesByStatement(args: JsonObject): boolean {
  return [...listTexts(args)].some(({ text }) => writing.test(text));
}

/** Checks if a request changes nothing: no tool is called, or one whose calls change nothing, with no statement that writes. */
export function isHarmlessRequest(request: ExploredRequest, isHarmless: (tool: string) => boolean): boolean {
  return request.kind !== 'tool' || (isHarmless(request.tool) && !writesByStatement(request.arguments));
}

/** Checks if a text begins as a statement of SQL. */
export function isStatement(text: string): boolean {
  return writing.test(text) || reading.test(text);
}

/** Finds the argument that is a statement; null if none is one. */
export function findStatement(args: JsonObject): string | null {
  const entry = Object.entries(args).find(([, value]) => typeof value === 'string' && isStatement(value));
  return entry?.[0] ?? null;
}

/** Names of lists whose values stand for the placeholders of a statement. */
const namesOfBound = /\b(?:param|parameter|bind|binding|bound|arg|argument|value)\b/;

/** Gives a call that reads by a statement a placeholder for the one value of a list; empty if the list is for something else. */
export function placeBound(args: JsonObject, name: string, value: unknown): JsonObject {
  const statement = findStatement(args);
  const isBound = Array.isArray(value) && value.length === 1 && namesOfBound.test(splitName(name).join(' '));
  if (!isBound || statement === null || !reading.test(String(args[statement]))) return {};
  return { [statement]: 'SELECT ? AS one' };
}

/** The database among the files that are generated for some servers. It has the table `items`. */
export const databaseFile = 'items.db';

/** A table with one row, what reads it, and statements about it that come later. */
export const sampleTable = {
  create: 'CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT)',
  fill: "INSERT INTO items (id, name) VALUES (1, 'alpha')",
  read: 'SELECT id, name FROM items',
  /** Adds a row with a quote and one without a value. */
  more: "INSERT INTO items (id, name) VALUES (2, 'O''Neil'), (3, NULL)",
  changes: ["UPDATE items SET name = 'beta' WHERE id > 1", 'DELETE FROM items WHERE id > 1'],
  empty: 'SELECT id, name FROM items WHERE id = 9',
  wrong: ['SELECT id FROM missing', 'SELECT id FROM'],
  wrongColumn: 'SELECT missing FROM items',
} as const;

/** Names what a statement does, by its first word, and by `FROM` if it reads a table; `writes` is true if it changes a database. */
export function describeStatement(statement: string): { does: string; writes: boolean } {
  const [, verb = ''] = /^\s*(\w+)/.exec(statement) ?? [];
  const isOfTable = /\bfrom\b/i.test(statement) && reading.test(statement);
  return { does: `${verb.toUpperCase()}${isOfTable ? ' FROM' : ''}`, writes: writing.test(statement) };
}

const missingTable =
  /\b(?:no such|unknown|missing|non-?existent) (?:table|relation)\b|\b(?:table|relation)\b[^\n]{0,80}\b(?:does not|doesn't|doesn’t) exist\b|\b(?:table|relation)\b[^\n]{0,80}\bnot found\b/i;

/** Checks if a refusal says that a table is missing. */
export function missesTable(refusal: string): boolean {
  return missingTable.test(refusal);
}
