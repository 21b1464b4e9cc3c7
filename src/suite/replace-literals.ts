import { type Document, isAlias, isMap, isNode, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml';
import { isJsonEqual, isRecord, listTexts } from '../base/json.ts';
import { escapePlaceholders, readPlaceholders } from '../cases/placeholders.ts';

/** The new expected value of an assertion, with the 1-based location of its step in the file. */
export interface NewLiteral {
  line: number;
  column: number;
  /** The assertion, such as `toolResultContains`. */
  key: string;
  value: unknown;
}

/** The changed lines of one literal, or the reason that it did not change, as half a sentence. */
export type ReplacedLiteral =
  | { kind: 'replaced'; line: number; before: string[]; after: string[] }
  | { kind: 'kept'; line: number; reason: string };

type Path = readonly PropertyKey[];

interface Edit {
  start: number;
  end: number;
  text: string;
}

/**
 * Replaces expected values of assertions in an evals file and leaves the rest of its text unchanged. If a mapping or list keeps its
 * keys or length, only the members that differ change, so that comments between them stay. A value is kept if it has a placeholder, if an
 * alias shares it, or if its comments would be lost.
 */
export function replaceLiterals(
  text: string,
  literals: readonly NewLiteral[],
): { text: string; replaced: ReplacedLiteral[] } {
  let changed = text;
  const replaced: ReplacedLiteral[] = [];
  // Works from the end of the file, so that the locations above stay valid.
  for (const literal of literals.toSorted((a, b) => b.line - a.line || b.column - a.column)) {
    const outcome = replaceLiteral(changed, literal);
    if ('reason' in outcome) replaced.unshift({ kind: 'kept', line: literal.line, reason: outcome.reason });
    else if (outcome.text !== changed) {
      replaced.unshift({ kind: 'replaced', ...compareLines(changed, outcome.text) });
      changed = outcome.text;
    }
  }
  return { text: changed, replaced };
}

function replaceLiteral(text: string, literal: NewLiteral): { text: string } | { reason: string } {
  const counter = new LineCounter();
  const document = parse(text, counter);
  const found = findLiteral(document.contents, literal.key, (offset) => {
    const { line, col } = counter.linePos(offset);
    return line === literal.line && col === literal.column;
  });
  if (found === null) return { reason: `its step does not have \`${literal.key}\` with a value of its own` };
  const written: unknown = found.node.toJS(document);
  if (hasPlaceholder(written)) return { reason: 'the value has a placeholder' };
  const value = escapePlaceholders(literal.value);
  const edits = listEdits(found.node, { document, value, text });
  if (edits === null) return { reason: 'the value has comments, an anchor or an alias' };
  const changed = applyEdits(text, edits);
  const expected = setAt(document.toJS({ maxAliasCount: 100 }), found.path, value);
  const after = parse(changed);
  const isAlone = after.errors.length === 0 && isJsonEqual(after.toJS({ maxAliasCount: 100 }), expected);
  return isAlone ? { text: changed } : { reason: 'another part of the file would change with it' };
}

function parse(text: string, lineCounter = new LineCounter()): Document {
  return parseDocument(text, { lineCounter, schema: 'core', resolveKnownTags: false, merge: false, logLevel: 'error' });
}

/** Finds the step at a position, and in it the value that its assertion expects. */
function findLiteral(
  contents: unknown,
  key: string,
  isMeant: (offset: number) => boolean,
): { node: Node; path: Path } | null {
  const open: Array<{ node: unknown; path: Path }> = [{ node: contents, path: [] }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node, path } = next;
    if (isMap(node)) {
      const isStep = node.range != null && isMeant(node.range[0]);
      const assertion: unknown = isStep ? node.get('assert', true) : undefined;
      const literal: unknown = isMap(assertion) ? assertion.get(key, true) : undefined;
      if (isNode(literal)) return { node: literal, path: [...path, 'assert', key] };
      for (const { key: name, value } of node.items) open.push({ node: value, path: [...path, String(name)] });
    } else if (isSeq(node))
      for (const [index, item] of node.items.entries()) open.push({ node: item, path: [...path, index] });
  }
  return null;
}

function hasPlaceholder(value: unknown): boolean {
  return [...listTexts(value)].some(({ text }) => {
    const { names, malformed } = readPlaceholders(text);
    return names.length + malformed.length > 0;
  });
}

interface Replacement {
  document: Document;
  value: unknown;
  text: string;
}

/** Lists the edits that replace a value; null if they would lose a comment, an anchor or an alias. */
function listEdits(node: unknown, replacement: Replacement): Edit[] | null {
  const { document, value, text } = replacement;
  if (!isNode(node) || isAlias(node) || node.range == null || node.anchor !== undefined) return null;
  if (isJsonEqual(node.toJS(document), value)) return [];
  if (isSeq(node) && Array.isArray(value) && node.items.length === value.length) {
    return joinEdits(node.items.map((item, index) => listEdits(item, { document, text, value: value[index] })));
  }
  if (
    isMap(node) &&
    isRecord(value) &&
    isSameKeys(
      node.items.map(({ key }) => String(key)),
      Object.keys(value),
    )
  ) {
    return joinEdits(
      node.items.map(({ key, value: item }) => listEdits(item, { document, text, value: value[String(key)] })),
    );
  }
  const [start, end] = node.range;
  const old = text.slice(start, end);
  // Keeps the white space at the end, because a block includes the white space after it.
  const rest = /\s*$/.exec(old)?.[0] ?? '';
  if (isScalar(node)) return [{ start, end, text: printScalar(value, node.type) + rest }];
  if (/(?:^|\s)#/.test(old)) return null;
  const colon = /:(\s*)$/.exec(text.slice(0, start));
  const isBlock = (isMap(node) || isSeq(node)) && node.flow !== true && colon !== null;
  const from = isBlock ? start - (colon[1]?.length ?? 0) : start;
  return [{ start: from, end, text: `${isBlock ? ' ' : ''}${JSON.stringify(value)}${rest}` }];
}

function joinEdits(parts: ReadonlyArray<Edit[] | null>): Edit[] | null {
  return parts.every((part) => part !== null) ? parts.flat() : null;
}

function isSameKeys(left: readonly string[], right: readonly string[]): boolean {
  return isJsonEqual(left.toSorted(), right.toSorted());
}

/** Keeps the quotes of a text if possible. Any other value is printed as JSON, which is YAML on one line. */
function printScalar(value: unknown, type: string | undefined): string {
  if (typeof value === 'string') {
    const isPlain = /^[A-Za-z](?:[\w .-]*\w)?$/.test(value) && !/^(?:true|false|null)$/i.test(value);
    if (type === 'PLAIN' && isPlain) return value;
    const isQuotable = !/[\p{Cc}\p{Zl}\p{Zp}\uFEFF]/u.test(value);
    if (type === 'QUOTE_SINGLE' && isQuotable) return `'${value.replaceAll("'", "''")}'`;
  }
  return JSON.stringify(value);
}

function applyEdits(text: string, edits: readonly Edit[]): string {
  let changed = text;
  for (const edit of edits.toSorted((a, b) => b.start - a.start)) {
    changed = changed.slice(0, edit.start) + edit.text + changed.slice(edit.end);
  }
  return changed;
}

function setAt(root: unknown, [key, ...rest]: Path, value: unknown): unknown {
  if (key === undefined) return value;
  if (Array.isArray(root)) return root.map((item: unknown, index) => (index === key ? setAt(item, rest, value) : item));
  if (!isRecord(root)) return root;
  return Object.fromEntries(
    Object.entries(root).map(([name, item]) => [name, name === key ? setAt(item, rest, value) : item]),
  );
}

/** Returns the lines that differ between two texts, without their equal beginning and end. */
function compareLines(before: string, after: string): { line: number; before: string[]; after: string[] } {
  const [old, own] = [before.split('\n'), after.split('\n')];
  let start = 0;
  while (start < old.length && old[start] === own[start]) start += 1;
  let end = 0;
  while (end < Math.min(old.length, own.length) - start && old.at(-1 - end) === own.at(-1 - end)) end += 1;
  return {
    line: start + 1,
    before: old.slice(start, old.length - end),
    after: own.slice(start, own.length - end),
  };
}
