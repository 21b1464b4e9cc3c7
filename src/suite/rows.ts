import { isRecord, listTexts } from '../base/json.ts';
import { appendAll } from '../base/lists.ts';
import {
  fillAsText,
  type Filling,
  fillDeep,
  findNameProblem,
  plainText,
  readPlaceholders,
  readWhole,
} from '../cases/placeholders.ts';
import { assignIds, createTaker, nameVariant } from './case-ids.ts';
import { type Finding, suggestNearest } from './findings.ts';
import type { DocumentPath, SourceDocument } from './source-document.ts';
import { maxCases } from './suite-schema.ts';
import { readPart } from './zod-unions.ts';

/** The origin of a case: a case of the file, or one row of it. */
export interface CaseOrigin {
  /** The index of the case in the file. */
  index: number;
  /** The id and title in the file. */
  base: { id?: string; title: string };
  /** Null for a case without rows. */
  row: CaseRow | null;
}

export interface CaseRow {
  /** Distinguishes the row from others of its case: its `id`, else its `name`, else its number from 1. */
  key: string;
  values: ReadonlyMap<string, unknown>;
  /** The columns of all rows of the case. */
  columns: readonly string[];
}

/** A document in which each row is a case. */
interface ExpandedDocument {
  document: SourceDocument;
  /** The origin of each case of `document`, in the same order. */
  origins: CaseOrigin[];
  findings: Finding[];
}

interface ExpandedCase {
  testCase: unknown;
  origin: CaseOrigin;
  /** The index of its row; null for a case without rows. */
  position: number | null;
}

/** Columns that name a row. A case need not use them. */
const namingColumns = ['id', 'name'];

/** Parts of a case whose texts the engine fills in later, when it knows all values. */
const laterParts: ReadonlySet<string> = new Set(['setup', 'steps', 'teardown', 'checks', 'client']);

/**
 * Replaces each case that has `each` by one case for each row. A text that is one column and nothing else becomes the value. Other texts of
 * steps, fixtures, checks and `client` are left to `fillRow`. Positions stay those of the file; the position of a whole case is that of its
 * row.
 */
export function expandRows(document: SourceDocument): ExpandedDocument {
  const written = readPart(document.value, 'cases');
  const cases: unknown[] = Array.isArray(written) ? written : [];
  const unchanged = { document, origins: cases.map((testCase, index) => describeOrigin(testCase, index, null)) };
  const rows = cases.map(readRows);
  if (rows.every((list) => list === null)) return { ...unchanged, findings: [] };
  const total = rows.reduce((sum, list) => sum + (list?.length ?? 1), 0);
  if (total > maxCases) {
    const message = `A suite has at most ${maxCases} cases, and with its rows this one has ${total}; split the file`;
    return { ...unchanged, findings: [{ ...document.locateKey(['cases']), code: 'too-many-cases', message }] };
  }
  const findings: Finding[] = [];
  const expanded = cases.flatMap((testCase, index): ExpandedCase[] => {
    const list = rows[index] ?? null;
    if (list === null || !isRecord(testCase)) {
      return [{ testCase, origin: describeOrigin(testCase, index, null), position: null }];
    }
    appendAll(findings, findRowIssues(testCase, list, { document, path: ['cases', index] }));
    const { each: _each, ...fields } = testCase;
    const columns = [...new Set(list.flatMap((row) => Object.keys(row)))];
    return list.map((row, position) => {
      const values = new Map(Object.entries(fillDeep(row, plainText)));
      const key = readKey(values) ?? String(position + 1);
      const ofCase = { key, values, columns };
      return { testCase: fillCase(fields, ofCase), origin: describeOrigin(testCase, index, ofCase), position };
    });
  });
  const places = expanded.map(({ origin: { index }, position }) => ({ index, position }));
  const toFilePath = (path: DocumentPath): DocumentPath => {
    const place = path[0] === 'cases' && path.length > 1 ? places[Number(path[1])] : undefined;
    if (place === undefined) return path;
    const isWhole = path.length === 2 && place.position !== null;
    return ['cases', place.index, ...(isWhole ? ['each', place.position ?? 0] : path.slice(2))];
  };
  const value = isRecord(document.value) ? document.value : {};
  return {
    document: {
      value: { ...value, cases: expanded.map(({ testCase }) => testCase) },
      locateKey: (path) => document.locateKey(toFilePath(path)),
      locateValue: (path) => document.locateValue(toFilePath(path)),
      // A row alone does not say what its case does.
      readText: (path) => document.readText(toFilePath(path).slice(0, path.length)),
    },
    origins: expanded.map(({ origin }) => origin),
    findings,
  };
}

/** Assigns each case its id, and the id of the case of the file that its rows share. */
export function assignCaseIds(origins: readonly CaseOrigin[]): Array<{ id: string; baseId: string }> {
  const bases = new Map(origins.map(({ index, base }) => [index, base]));
  const assigned = assignIds([...bases.values()], 'case');
  const baseIds = new Map([...bases.keys()].map((index, position) => [index, assigned[position] ?? '']));
  const take = createTaker(new Set(assigned));
  return origins.map(({ index, row }) => {
    const baseId = baseIds.get(index) ?? '';
    return { id: row === null ? baseId : take(nameVariant(baseId, row.key, '-')), baseId };
  });
}

/** Fills the values of a row into parsed steps and checks. Other names and escapes stay unchanged. */
export function fillRow(row: CaseRow | null): Filling {
  return { find: (name) => findValue(row?.values, name), isFinal: false };
}

function findValue(values: ReadonlyMap<string, unknown> | undefined, name: string): { value: unknown } | null {
  return values?.has(name) === true ? { value: values.get(name) } : null;
}

/** Returns the rows of a case; null if it has none or the schema refuses them. */
function readRows(testCase: unknown): Array<Record<string, unknown>> | null {
  const each = readPart(testCase, 'each');
  if (!Array.isArray(each) || each.length === 0) return null;
  const rows = each.filter(isRecord);
  return rows.length === each.length ? rows : null;
}

function describeOrigin(testCase: unknown, index: number, row: CaseRow | null): CaseOrigin {
  const id = readPart(testCase, 'id');
  const title = readPart(testCase, 'title');
  return { index, base: { ...(typeof id === 'string' && { id }), title: typeof title === 'string' ? title : '' }, row };
}

function readKey(values: ReadonlyMap<string, unknown>): string | null {
  const key = namingColumns
    .map((column) => values.get(column))
    .find((value) => typeof value === 'string' || typeof value === 'number');
  return key === undefined || key === '' ? null : String(key);
}

function fillCase({ title, ...fields }: Record<string, unknown>, { key, values }: CaseRow): Record<string, unknown> {
  const filling: Filling = { find: (name) => findValue(values, name), isFinal: true };
  const entries = Object.entries(fields).map(([name, value]) => [
    name,
    laterParts.has(name) ? fillTypes(value, values) : fillDeep(value, filling),
  ]);
  const filled: Record<string, unknown> = Object.fromEntries(entries);
  if (typeof title !== 'string') return { title, ...filled };
  const isDistinct = readPlaceholders(title).names.some((name) => values.has(name));
  const text = fillAsText(title, filling);
  return { title: isDistinct ? text : `${text} (${key})`, ...filled };
}

/** Fills in values that are not texts, because they change the type of the field. */
function fillTypes(value: unknown, values: ReadonlyMap<string, unknown>): unknown {
  const find = (name: string) => {
    const found = findValue(values, name);
    return typeof found?.value === 'string' ? null : found;
  };
  if (typeof value === 'string') return readWhole(value) === null ? value : fillDeep(value, { find, isFinal: false });
  if (Array.isArray(value)) return value.map((item) => fillTypes(item, values));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, fillTypes(member, values)]));
}

/** Finds unused columns, rows that lack a used column, and names that are not columns. */
function findRowIssues(
  { each: _each, ...testCase }: Record<string, unknown>,
  rows: ReadonlyArray<Record<string, unknown>>,
  { document, path }: { document: SourceDocument; path: DocumentPath },
): Finding[] {
  const findings: Finding[] = [];
  const columns = new Map<string, DocumentPath>();
  for (const [index, row] of rows.entries()) {
    for (const column of Object.keys(row)) {
      if (!columns.has(column)) columns.set(column, [...path, 'each', index, column]);
    }
  }
  const used = new Set<string>();
  for (const { text, path: inside } of listTexts(testCase)) {
    const isLater = laterParts.has(String(inside[0]));
    for (const name of readPlaceholders(text).names) {
      if (columns.has(name)) used.add(name);
      else if (!isLater) {
        const message = `\`{{${name}}}\` has no value here${suggestNearest(name, [...columns.keys()])}`;
        findings.push({ ...document.locateValue([...path, ...inside]), code: 'unknown-name', message });
      }
    }
  }
  for (const [column, location] of columns) {
    const problem = findNameProblem(column);
    if (problem !== null) findings.push({ ...document.locateKey(location), code: 'bad-name', message: problem });
    else if (!used.has(column) && !namingColumns.includes(column)) {
      const message = `No step uses the column \`${column}\`; write \`{{${column}}}\` where it belongs, or remove it`;
      findings.push({ ...document.locateKey(location), code: 'unused-column', message });
    }
  }
  for (const [index, row] of rows.entries()) {
    for (const column of used) {
      if (Object.hasOwn(row, column)) continue;
      const message = `This row has no \`${column}\`, which the case uses as \`{{${column}}}\``;
      findings.push({ ...document.locateValue([...path, 'each', index]), code: 'missing-column', message });
    }
    for (const { text, path: inside } of listTexts(row, [...path, 'each', index])) {
      const { names, malformed } = readPlaceholders(text);
      if (names.length + malformed.length === 0) continue;
      const message = 'A row holds values and no placeholders; write `\\{{` for the text `{{`';
      findings.push({ ...document.locateValue(inside), code: 'placeholder-in-row', message });
    }
  }
  return findings;
}
