import { isRecord, type JsonObject, listTexts } from '../base/json.ts';
import { canBePartial } from '../checks/json-comparison.ts';
import { escapePointerToken } from '../base/json-pointer.ts';
import { hasVolatileForm, maskMachine, volatileMark } from '../explore/stability/forms.ts';
import { isVolatileName } from '../explore/stability/merge-values.ts';
import { type AnswerView, type DocumentNode, nameType, printPointer } from './answer-view.ts';
import { hasNoOrder } from './operators/document-operators.ts';

const longestText = 200;
/** A value that is asserted as a whole fits on a few lines. */
const longestWhole = 300;
const maxLeaves = 24;
const maxProperties = 40;

/**
 * Lists checks of an answer that a person could write, in the notation of an evals file. None has a text of which `isPrivate` is true, a
 * path of the machine or the workspace, which has another path in each iteration.
 */
export function listCandidateChecks(
  view: AnswerView,
  {
    isLater,
    workspace,
    isPrivate,
  }: { isLater: boolean; workspace: string | undefined; isPrivate: (text: string) => boolean },
): JsonObject[] {
  // Two braces begin a placeholder in an evals file.
  const isFit = (text: string) =>
    !text.includes('{{') &&
    (workspace === undefined || !text.includes(workspace)) &&
    maskMachine(text) === text &&
    !isPrivate(text);
  const checks = view.isError
    ? listErrorChecks(view)
    : [
        ...listDocumentChecks(view, { isLater, isFit }),
        ...listTextChecks(view, isLater),
        ...listBlockChecks(view),
        ...listDeclarationChecks(view),
      ];
  return checks.filter(
    (check) =>
      !JSON.stringify(check).includes('{{') &&
      // A JSON Pointer can read as a path of the machine.
      [...listTexts(check)].every(({ text, path }) => (path.length === 1 && path[0] === 'path') || isFit(text)),
  );
}

const names = {
  tool: { equals: 'toolResultEquals', contains: 'toolResultContains', schema: 'toolResultMatchesSchema' },
  resource: { equals: 'resourceEquals', contains: 'resourceContains', schema: 'resourceMatchesSchema' },
  prompt: { equals: 'promptEquals', contains: 'promptContains', schema: null },
  completion: { equals: 'completionEquals', contains: 'completionContains', schema: null },
  list: null,
  model: null,
} as const;

function listDocumentChecks(
  { document, kind }: AnswerView,
  { isLater, isFit }: { isLater: boolean; isFit: (text: string) => boolean },
): JsonObject[] {
  const own = names[kind];
  if (own === null || document === null) return [];
  const { equals, schema } = own;
  const latest = kind === 'tool' && isLater ? { latest: true } : {};
  const isWhole = ({ value, isVolatile }: DocumentNode) =>
    !isVolatile &&
    typeof value === 'object' &&
    value !== null &&
    !hasVolatileName(value) &&
    JSON.stringify(value).length <= longestWhole;
  const isStable = ({ value, isVolatile, path }: DocumentNode) =>
    !isVolatile &&
    !isVolatileName(String(path.at(-1) ?? '')) &&
    (typeof value === 'string'
      ? value.length <= longestText && !hasVolatileForm(value) && isFit(value)
      : typeof value !== 'object' || value === null);
  const isLeaf = (node: DocumentNode) => node.value !== null && node.value !== '' && isStable(node);
  const list = (nodes: readonly DocumentNode[]) => new Set(nodes.map(({ path }) => printPointer(path)));
  const known = {
    stable: list(document.nodes.filter(isStable)),
    untyped: list(document.nodes.filter(({ hasSameType }) => !hasSameType)),
  };
  const parts = document.nodes.filter((node) => isWhole(node) || isLeaf(node)).slice(0, maxLeaves);
  return [
    ...parts.map(({ path, value }) => ({
      [equals]: value,
      ...(path.length > 0 && { path: printPointer(path) }),
      ...(Array.isArray(value) && hasNoOrder(value) && { unordered: true }),
      ...(canBePartial(value) && { partial: true }),
    })),
    ...(schema === null
      ? []
      : [{ [schema]: describeShape(document.root, known, '', { budget: maxProperties }), ...latest }]),
  ];
}

/** Checks if a document has a value whose name says that another moment or machine changes it. */
function hasVolatileName(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(hasVolatileName);
  if (!isRecord(value)) return false;
  return Object.entries(value).some(
    ([name, member]) =>
      hasVolatileName(member) || (typeof member !== 'object' && member !== '' && isVolatileName(name)),
  );
}

/**
 * Describes a value as a JSON Schema that allows further fields: which fields there are, how long lists are, and the `stable` values. `untyped`
 * ones have another type in each run.
 */
function describeShape(
  value: unknown,
  known: { stable: ReadonlySet<string>; untyped: ReadonlySet<string> },
  pointer: string,
  left: { budget: number },
): JsonObject {
  if (known.untyped.has(pointer)) return {};
  if (Array.isArray(value)) {
    const length = { minItems: value.length, maxItems: value.length };
    left.budget -= 1;
    if (value.length === 0 || left.budget <= 0) return { type: 'array', ...length };
    const items = value.map((item, index) => describeShape(item, known, `${pointer}/${index}`, left));
    return hasNoOrder(value)
      ? { type: 'array', ...length, allOf: items.map((item) => ({ contains: item })) }
      : { type: 'array', ...length, prefixItems: items };
  }
  if (isRecord(value)) {
    const keys = Object.keys(value);
    left.budget -= keys.length;
    if (left.budget <= 0) return { type: 'object', required: keys };
    const properties = Object.fromEntries(
      keys.map((key) => [key, describeShape(value[key], known, `${pointer}/${escapePointerToken(key)}`, left)]),
    );
    return { type: 'object', required: keys, properties };
  }
  return known.stable.has(pointer) ? { const: value } : { type: nameType(value) };
}

function listTextChecks({ texts, kind, request }: AnswerView, isLater: boolean): JsonObject[] {
  const own = names[kind];
  if (own === null) return [];
  const { equals, contains } = own;
  const latest = kind === 'tool' && isLater ? { latest: true } : {};
  // JSON is compared as a document.
  const plain = texts.filter(({ text }) => !/^\s*[[{]/.test(text));
  return plain.slice(0, 3).flatMap(({ text, stableParts: ofRuns }) => {
    const stableParts = ofRuns.flatMap((part) => maskMachine(part).split(volatileMark));
    const [whole] = stableParts;
    const lines = stableParts.flatMap((part) => part.split('\n').map((line) => line.trim()));
    const fitting = [...new Set([...(whole === undefined ? [] : [whole.trim()]), ...lines])]
      .filter((part) => part !== '' && part.length <= longestText && /[\p{L}\p{N}]/u.test(part))
      .toSorted((a, b) => b.length - a.length);
    const chosen = [
      ...new Set([
        ...fitting.slice(0, 3),
        ...lines
          .toReversed()
          .filter((line) => fitting.includes(line))
          .slice(0, 1),
      ]),
    ];
    // Numbers of a sentence are what a caller needs of it.
    const sent = JSON.stringify(request.params);
    const numbers = stableParts
      .flatMap((part) => part.match(/\b\d+(?:\.\d+)?\b/g) ?? [])
      .filter((number) => !sent.includes(number));
    return [
      ...(whole === text && text.length <= longestText ? [{ [equals]: text }] : []),
      ...chosen.map((part) => ({ [contains]: part, caseSensitive: true, ...latest })),
      ...[...new Set(numbers)].slice(0, 2).map((number) => ({ [contains]: number, ...latest })),
    ];
  });
}

/** Asserts the code of an error, and the arguments that it names: what stays when its words change. */
function listErrorChecks({ kind, answer, request, result }: AnswerView): JsonObject[] {
  const name = kind === 'tool' ? 'toolError' : 'requestError';
  const params = isRecord(request.params) && isRecord(request.params['arguments']) ? request.params['arguments'] : {};
  const message = answer.kind === 'error' ? String(answer.error) : JSON.stringify(result);
  const words = [...Object.keys(params), ...Object.values(params)].filter(
    (word): word is string =>
      typeof word === 'string' && word.length > 2 && word.length <= longestText && message.includes(word),
  );
  const codes = message.match(/\bE[A-Z]{3,}\b/g) ?? [];
  const error: unknown = answer.kind === 'error' ? answer.error : null;
  const code = error instanceof Error && 'code' in error && typeof error.code === 'number' ? error.code : null;
  return [
    ...[...new Set([...codes, ...words])].slice(0, 4).map((contains) => ({ [name]: { contains } })),
    ...(code === null ? [] : [{ [name]: { code } }]),
    ...(kind === 'tool' ? [{ toolResultIsError: true }] : []),
  ];
}

/** Checks if a check is about the declaration of the called tool, and not about its answer. */
export const isOfDeclaration = (check: JsonObject) =>
  'argumentsMatchToolSchema' in check || check['type'] === 'noDestructiveToolCalled';

/** Asserts what the server declares of the called tool. */
function listDeclarationChecks({ kind, subject, tool }: AnswerView): JsonObject[] {
  return kind === 'tool' && tool !== null
    ? [{ argumentsMatchToolSchema: subject }, { type: 'noDestructiveToolCalled' }]
    : [];
}

function listBlockChecks({ kind, result }: AnswerView): JsonObject[] {
  const blocks: unknown = result?.['content'];
  if (kind !== 'tool' || !Array.isArray(blocks)) return [];
  return blocks.filter(isRecord).flatMap((block) => {
    const inner = isRecord(block['resource']) ? block['resource'] : block;
    const data = inner['data'] ?? inner['blob'];
    if (typeof data !== 'string') return [];
    const bytes = Buffer.byteLength(data, 'base64');
    const { type } = block;
    const mimeType = typeof inner['mimeType'] === 'string' ? { mimeType: inner['mimeType'] } : {};
    return [{ toolResultContent: { type, ...mimeType, minBytes: bytes, maxBytes: bytes } }];
  });
}
