import {
  Document,
  isCollection,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  Scalar,
  stringify,
  visit,
} from 'yaml';
import { isRecord, type JsonObject, tryParseJson } from '../base/json.ts';

/** A case as a file writes it. It may be commented out. */
export interface AddedCase {
  content: JsonObject;
  /** The comment lines above the case. */
  comments: readonly string[];
  isCommentedOut: boolean;
}

/** Prints cases as items of a list in block style, each line indented by `indent`. */
export function renderCases(cases: readonly AddedCase[], indent: string): string {
  return cases
    .map(({ content, comments, isCommentedOut }) => {
      const lines = printItem(content).trimEnd().split('\n');
      const mark = isCommentedOut ? '# ' : '';
      return [...comments.map((comment) => `# ${comment}`), ...lines.map((line) => `${mark}${line}`)]
        .map((line) => `${indent}${line}`.trimEnd())
        .join('\n');
    })
    .join('\n\n');
}

/** Prints an item of a list. A text with white space at the end of a line is quoted, because editors and the caller remove that. */
export function printItem(content: JsonObject): string {
  // A time such as 12:30 is a number to older parsers, and `on` a flag.
  const document = new Document([content], { aliasDuplicateObjects: false, compat: 'yaml-1.1' });
  visit(document, {
    Scalar: (_key, node) => {
      if (typeof node.value === 'string' && /[ \t](?:\n|$)|\n\n$/.test(node.value)) node.type = Scalar.QUOTE_DOUBLE;
    },
  });
  return document.toString({ lineWidth: 0, doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER });
}

/** Prints a new evals file. */
export function renderEvals({
  comments,
  suite,
  workspace = null,
  upstream = null,
  cases,
}: {
  comments: readonly string[];
  suite: string;
  /** The directory that each case gets a copy of, relative to the file; null for none. */
  workspace?: string | null;
  /** The directory of the recordings of APIs, relative to the file; null for none. */
  upstream?: string | null;
  cases: readonly AddedCase[];
}): string {
  const head = comments.map((comment) => `# ${comment}\n`).join('');
  const keys = { suite, ...(workspace !== null && { workspace }), ...(upstream !== null && { upstream }) };
  return `${head}${stringify(keys, { lineWidth: 0 })}cases:\n${renderCases(cases, '  ')}\n`;
}

/**
 * Adds cases after the last one of an evals file and leaves the rest of its text unchanged. Null if the file has no list of cases in block
 * style to add to, such as a JSON file.
 */
export function addCases(text: string, cases: readonly AddedCase[]): string | null {
  if (cases.length === 0) return text;
  const counter = new LineCounter();
  const document = parseDocument(text, { lineCounter: counter });
  if (document.errors.length > 0 || !isMap(document.contents) || document.contents.flow === true) return null;
  const list = document.contents.get('cases', true);
  const last = isSeq(list) && list.flow !== true ? list.items.at(-1) : undefined;
  if (!isCollection(last) && !isScalar(last)) return null;
  const [start, end] = last.range ?? [];
  if (start === undefined || end === undefined) return null;
  const lines = text.split('\n');
  const indent = /^ */.exec(lines[counter.linePos(start).line - 1] ?? '')?.[0] ?? '';
  // A value in block style ends where its last line does, or at the beginning of the next one.
  const { line, col } = counter.linePos(end);
  const at = skipComments(lines, col === 1 ? line - 1 : line, indent);
  const before = lines.slice(0, at).join('\n');
  const after = lines.slice(at).join('\n');
  const isBlank = (rest: string) => rest.trim() === '';
  const added = renderCases(cases, indent);
  return `${before.trimEnd()}\n\n${added}\n${isBlank(after) ? '' : `${after.startsWith('\n') ? '' : '\n'}${after}`}`;
}

/** Skips comments below the last case, which are drafts of further cases. The text after them is outside of the list. */
function skipComments(lines: readonly string[], from: number, indent: string): number {
  let at = from;
  for (let index = from; index < lines.length; index += 1) {
    const line = lines[index] ?? '';
    if (line.trim() === '') continue;
    if (!line.startsWith(`${indent}#`)) break;
    at = index + 1;
  }
  return at;
}

/** The tools, resources and prompts that the cases of a file request, commented-out ones included, and the ids of its cases. */
export interface CaseSubjects {
  tools: Set<string>;
  /** The tools that only commented-out cases call. */
  draftedTools: Set<string>;
  resources: Set<string>;
  prompts: Set<string>;
  ids: Set<string>;
  listsTools: boolean;
  pings: boolean;
}

/** Reads what the cases of evals files request. Never throws; an unreadable file adds nothing. */
export function readSubjects(texts: readonly string[]): CaseSubjects {
  const found: CaseSubjects = {
    tools: new Set(),
    draftedTools: new Set(),
    resources: new Set(),
    prompts: new Set(),
    ids: new Set(),
    listsTools: false,
    pings: false,
  };
  const keys = { toolCall: found.tools, readResource: found.resources, getPrompt: found.prompts };
  const visit = (value: unknown) => {
    if (Array.isArray(value)) for (const item of value) visit(item);
    if (value === 'listTools') found.listsTools = true;
    if (value === 'ping') found.pings = true;
    if (!isRecord(value)) return;
    for (const [key, member] of Object.entries(value)) {
      for (const [name, set] of Object.entries(keys)) {
        if (key === name && typeof member === 'string') set.add(member.replaceAll(String.raw`\{{`, '{{'));
      }
      if (key === 'listTools') found.listsTools = true;
      if (key === 'ping') found.pings = true;
      visit(member);
    }
  };
  const drafts: unknown[] = [];
  for (const text of texts) {
    const document = parseDocument(text);
    const root: unknown = document.errors.length > 0 ? tryParseJson(text) : document.toJS({ maxAliasCount: 100 });
    visit(root);
    const cases: unknown[] = isRecord(root) && Array.isArray(root['cases']) ? root['cases'] : [];
    for (const item of cases) if (isRecord(item) && typeof item['id'] === 'string') found.ids.add(item['id']);
    for (const [, line = ''] of text.matchAll(draftedKey)) drafts.push(parseDocument(line).toJS());
  }
  const called = new Set(found.tools);
  for (const draft of drafts) {
    if (isRecord(draft) && typeof draft['id'] === 'string') found.ids.add(draft['id']);
    visit(draft);
  }
  for (const name of found.tools) if (!called.has(name)) found.draftedTools.add(name);
  return found;
}

/** Lists the cases of an evals file as they are written, commented-out ones included. An unreadable file has none. */
export function readWrittenCases(text: string): JsonObject[] {
  const document = parseDocument(text);
  const root: unknown = document.errors.length > 0 ? tryParseJson(text) : document.toJS({ maxAliasCount: 100 });
  const cases: unknown[] = isRecord(root) && Array.isArray(root['cases']) ? root['cases'] : [];
  const drafts = [...text.matchAll(draftedCase)].flatMap(([block]): unknown[] => {
    const draft = parseDocument(block.replaceAll(/^[ \t]*# ?/gm, ''));
    const items: unknown = draft.errors.length > 0 ? null : draft.toJS({ maxAliasCount: 100 });
    return Array.isArray(items) ? items : [];
  });
  return [...cases, ...drafts].filter(isRecord);
}

/** Reads the name of the workspace of an evals file; null if it has none. */
export function readWorkspaceKey(text: string): string | null {
  const value: unknown = parseDocument(text).get('workspace');
  return typeof value === 'string' ? value : null;
}

/** Matches a commented-out case: its first line, and the lines below it. */
const draftedCase = /^[ \t]*# - .*(?:\n[ \t]*# {2,}.*)*$/gm;

/** Matches a key of a commented-out case that names its id or what it requests. */
const draftedKey = /^[ \t]*#[ \t-]*((?:toolCall|readResource|getPrompt|id):[ \t].*)$/gm;
