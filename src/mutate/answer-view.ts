import { isJsonEqual, isRecord, type JsonObject, tryParseJson } from '../base/json.ts';
import { escapePointerToken } from '../base/json-pointer.ts';
import type { TapedAnswer, TapedRequest } from '../engine/session-tape.ts';
import type { ToolDeclaration, ToolList } from '../mcp/tool-declarations.ts';
import { mergePair } from '../explore/stability/merge-values.ts';
import { hasVolatileForm, maskForms, volatileMark } from '../explore/stability/forms.ts';

export type Path = ReadonlyArray<string | number>;

/** What a request asks for. */
export type AnswerKind = 'tool' | 'resource' | 'prompt' | 'completion' | 'list' | 'model';

/** A value in the document of an answer. */
export interface DocumentNode {
  path: Path;
  value: unknown;
  /** True if the value differs between two runs, or reads as a time, an id or the like. */
  isVolatile: boolean;
  /** False if nothing but the path of the workspace differs. */
  isVolatileElsewhere: boolean;
  /** True if both runs have a value of the same type. */
  hasSameType: boolean;
}

/** A text of an answer that is no JSON document. */
export interface AnswerText {
  text: string;
  /** The parts that are the same in each run, longest first. */
  stableParts: readonly string[];
  replace(this: void, text: string): TapedAnswer;
}

/** The JSON document of an answer: its structured content, or the JSON in its text. */
export interface AnswerDocument {
  root: unknown;
  /** The first values, outer ones first. */
  nodes: readonly DocumentNode[];
  /** Writes another document wherever the answer has this one. */
  replace(this: void, root: unknown): TapedAnswer;
  /** Writes another document into the structured content only; null if no text repeats it. */
  replaceOne: ((this: void, root: unknown) => TapedAnswer) | null;
}

/** An answer of a server, as operators read it. */
export interface AnswerView {
  kind: AnswerKind;
  /** The name of the tool or prompt, the URI, or the method of the list. */
  subject: string;
  request: TapedRequest;
  answer: TapedAnswer;
  /** The path of the workspace, which is another one in each run; null if the case has none. */
  workspace: string | null;
  /** What the server declares of the tool; null for other requests, and if the server listed no tools. */
  tool: Pick<ToolDeclaration, 'inputSchema' | 'outputSchema' | 'annotations'> | null;
  /** Null for an error that was returned instead of a result. */
  result: JsonObject | null;
  isError: boolean;
  document: AnswerDocument | null;
  texts: readonly AnswerText[];
}

/** The most values of a document that are read. Changes are drawn from them. */
const maxNodes = 400;

const kinds: Readonly<Record<string, AnswerKind>> = {
  'tools/call': 'tool',
  'resources/read': 'resource',
  'prompts/get': 'prompt',
  'completion/complete': 'completion',
  'resources/list': 'list',
  'resources/templates/list': 'list',
  'prompts/list': 'list',
};

/** Reads what a request is about; null for a request without an answer to change, such as a ping. */
export function readSubject({ method, params }: TapedRequest): Pick<AnswerView, 'kind' | 'subject'> | null {
  const kind = kinds[method];
  if (kind === undefined) return null;
  const outer = isRecord(params) ? params : {};
  const inner = isRecord(outer['params']) ? outer['params'] : outer;
  const named = kind === 'completion' && isRecord(inner['argument']) ? inner['argument'] : inner;
  const subject = kind === 'list' ? method : (named['name'] ?? named['uri']);
  return { kind, subject: typeof subject === 'string' ? subject : method };
}

/** A run of a case: its answer to a request, and the path of its workspace. */
interface OfRun {
  answer: TapedAnswer | null;
  workspace: string | null;
}

/** Reads an answer. `second` is the answer to the same request in another run; what differs is volatile. */
export function viewAnswer(
  request: TapedRequest,
  { answer, workspace }: OfRun & { answer: TapedAnswer },
  { second, tools }: { second: OfRun; tools: ToolList },
): AnswerView | null {
  const subject = readSubject(request);
  if (subject === null) return null;
  const tool = (subject.kind === 'tool' ? tools?.get(subject.subject) : null) ?? null;
  const shared = { ...subject, request, answer, workspace, tool };
  if (answer.kind === 'error') return { ...shared, result: null, isError: true, document: null, texts: [] };
  const result = isRecord(answer.result) ? answer.result : {};
  const other = second.answer?.kind === 'result' && isRecord(second.answer.result) ? second.answer.result : null;
  const workspaces = [workspace, second.workspace] as const;
  const slots = listTextSlots(result);
  const otherTexts = other === null ? [] : listTextSlots(other).map(({ text }) => text);
  const found = findDocument(subject.kind, result, slots);
  const isPart = new Set(found?.places.map(({ path }) => path.join('/')));
  return {
    ...shared,
    result,
    isError: result['isError'] === true,
    document: found === null ? null : viewDocument(found, { result, other, workspaces }, subject.kind),
    texts: slots.flatMap((slot, index) =>
      isPart.has(slot.path.join('/')) || slot.text === ''
        ? []
        : [viewText(slot, { result, second: other === null ? null : (otherTexts[index] ?? ''), workspaces })],
    ),
  };
}

interface TextSlot {
  path: Path;
  text: string;
}

/** Lists the texts of a result: those of content blocks, resources and messages. */
function listTextSlots(result: JsonObject): TextSlot[] {
  const slots: TextSlot[] = [];
  for (const name of ['content', 'contents', 'messages']) {
    const blocks: unknown = result[name];
    if (!Array.isArray(blocks)) continue;
    for (const [index, block] of blocks.entries()) {
      for (const inner of [[], ['resource'], ['content']]) {
        const path = [name, index, ...inner, 'text'];
        const text = readAt(block, [...inner, 'text']);
        if (typeof text === 'string') slots.push({ path, text });
      }
    }
  }
  return slots;
}

interface FoundDocument {
  root: unknown;
  /** Where the result has the document, or its part below `within`. */
  places: ReadonlyArray<{ path: Path; within: Path; print: (value: unknown) => unknown }>;
}

function findDocument(kind: AnswerKind, result: JsonObject, slots: readonly TextSlot[]): FoundDocument | null {
  const keep = (value: unknown) => value;
  if (kind === 'list' || kind === 'completion') {
    const path = kind === 'completion' ? ['completion', 'values'] : Object.keys(result).filter(isListName).slice(0, 1);
    const root = readAt(result, path);
    return Array.isArray(root) ? { root, places: [{ path, within: [], print: keep }] } : null;
  }
  const parsed = slots.flatMap(({ path, text }) => {
    const document = /^\s*[[{]/.test(text) ? tryParseJson(text) : undefined;
    const indent = /^\s*[[{]\n( *)/.exec(text)?.[1]?.length ?? 0;
    const print = (value: unknown) => JSON.stringify(value, null, indent);
    return typeof document === 'object' && document !== null ? [{ path, document, print }] : [];
  });
  const structured = result['structuredContent'];
  if (isRecord(structured) && !isCopy(structured, result, slots)) {
    const repeated = parsed.flatMap(({ path, document, print }) => {
      if (isJsonEqual(document, structured)) return [{ path, within: [], print }];
      // Some servers repeat only a part of it as text.
      const part = Object.keys(structured).find((name) => isJsonEqual(document, structured[name]));
      return part === undefined ? [] : [{ path, within: [part], print }];
    });
    return { root: structured, places: [{ path: ['structuredContent'], within: [], print: keep }, ...repeated] };
  }
  const [only] = parsed;
  if (only === undefined || slots.length !== 1) return null;
  const { document, path, print } = only;
  return {
    root: document,
    places: [path, ...listCopies(result, path)].map((each) => ({ path: each, within: [], print })),
  };
}

const isListName = (name: string) => /^(?:tools|resources|resourceTemplates|prompts)$/.test(name);

/** Checks if structured content only repeats a text or the content, as some frameworks do. */
function isCopy(structured: JsonObject, { content }: JsonObject, slots: readonly TextSlot[]): boolean {
  const [only, ...others] = Object.values(structured);
  return others.length === 0 && (isJsonEqual(only, content) || slots.some(({ text }) => text === only));
}

/** Lists where structured content repeats the text at a path, alone or with the content around it. */
function listCopies(result: JsonObject, path: Path): Path[] {
  const { structuredContent: structured, content } = result;
  return Object.entries(isRecord(structured) ? structured : {}).flatMap(([key, value]) => {
    if (value === readAt(result, path)) return [['structuredContent', key]];
    const isWhole = path[0] === 'content' && isJsonEqual(value, content);
    return isWhole ? [['structuredContent', key, ...path.slice(1)]] : [];
  });
}

function viewDocument(
  { root, places }: FoundDocument,
  { result, other, workspaces }: { result: JsonObject; other: JsonObject | null; workspaces: Workspaces },
  kind: AnswerKind,
): AnswerDocument {
  const second = other === null ? undefined : findDocument(kind, other, listTextSlots(other))?.root;
  const write = (value: unknown, some: FoundDocument['places']): TapedAnswer => ({
    kind: 'result',
    result: some.reduce<unknown>(
      (changed, { path, within, print }) => replaceAt(changed, path, print(readAt(value, within))),
      result,
    ),
  });
  return {
    root,
    nodes: [...walk(root, second ?? root, other === null ? [workspaces[0], workspaces[0]] : workspaces)],
    replace: (value) => write(value, places),
    replaceOne:
      places.length > 1 && places[0]?.path[0] === 'structuredContent'
        ? (value) => write(value, places.slice(0, 1))
        : null,
  };
}

/** The paths of the workspaces of two runs. */
type Workspaces = readonly [string | null, string | null];

/** Walks a document in its order, outer values first. */
function* walk(root: unknown, second: unknown, workspaces: Workspaces): Generator<DocumentNode> {
  const open: Array<{ path: Path; value: unknown; second: unknown }> = [{ path: [], value: root, second }];
  for (let count = 0, next = open.shift(); next !== undefined && count < maxNodes; count += 1, next = open.shift()) {
    const { path, value, second: other } = next;
    const isVolatile = !isJsonEqual(value, other) || isVolatileLeaf(value);
    const [placed, otherPlaced] = [hidePath(value, workspaces[0]), hidePath(other, workspaces[1])];
    const isVolatileElsewhere = isVolatile && (!isJsonEqual(placed, otherPlaced) || isVolatileLeaf(placed));
    yield { path, value, isVolatile, isVolatileElsewhere, hasSameType: nameType(value) === nameType(other) };
    if (typeof value !== 'object' || value === null) continue;
    for (const [key, member] of Array.isArray(value) ? value.entries() : Object.entries(value)) {
      if (open.length > maxNodes) break;
      open.push({ path: [...path, key], value: member, second: readAt(other, [key]) });
    }
  }
}

const hidePath = (value: unknown, path: string | null) =>
  typeof value === 'string' && path !== null ? value.replaceAll(path, '') : value;

/** Names the type of a value as JSON Schema does. */
export function nameType(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
}

const isVolatileLeaf = (value: unknown) =>
  (typeof value === 'string' && value.length < 10_000 && hasVolatileForm(value) && !/^\d{4}-\d{2}-\d{2}/.test(value)) ||
  (typeof value === 'number' && hasVolatileForm(String(value)));

/** The longest text in which parts are searched that are the same in each run. */
const longestCompared = 20_000;

function viewText(
  { path, text }: TextSlot,
  { result, second, workspaces }: { result: JsonObject; second: string | null; workspaces: Workspaces },
): AnswerText {
  // Forms and paths come first: two runs differ in a part of a time or a path only.
  const mask = (each: string, path: string | null) =>
    maskForms(path === null ? each : each.replaceAll(path, volatileMark));
  const masked =
    text.length <= longestCompared
      ? mergePair(mask(text, workspaces[0]), second === null ? mask(text, workspaces[0]) : mask(second, workspaces[1]))
      : second === null || second === text
        ? text.slice(0, longestCompared)
        : '';
  const parts = masked.split(volatileMark).filter((part) => /[\p{L}\p{N}]/u.test(part) && text.includes(part));
  return {
    text,
    stableParts: parts.toSorted((a, b) => b.length - a.length),
    replace: (changed) => ({
      kind: 'result',
      result: [path, ...listCopies(result, path)].reduce<unknown>((all, each) => replaceAt(all, each, changed), result),
    }),
  };
}

/** Reads the value at a path; undefined if there is none. */
export function readAt(root: unknown, path: Path): unknown {
  return path.reduce<unknown>((value, key) => {
    if (Array.isArray(value)) return value[Number(key)];
    return isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  }, root);
}

/** Copies a document with another value at a path; undefined removes the member. */
export function replaceAt(root: unknown, path: Path, value: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  if (Array.isArray(root)) return root.map((item, index) => (index === key ? replaceAt(item, rest, value) : item));
  if (!isRecord(root)) return root;
  const replaced = replaceAt(root[key], rest, value);
  return Object.fromEntries(
    Object.entries(root).flatMap(([name, member]) =>
      name !== key ? [[name, member]] : replaced === undefined ? [] : [[name, replaced]],
    ),
  );
}

/** Prints a path as a JSON Pointer. */
export function printPointer(path: Path): string {
  return path.map((key) => `/${escapePointerToken(String(key))}`).join('');
}

/** Prints a path for people: `items[0].name`. */
export function printPath(path: Path): string {
  return path.map((key, index) => (typeof key === 'number' ? `[${key}]` : `${index === 0 ? '' : '.'}${key}`)).join('');
}
