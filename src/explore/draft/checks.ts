import { escapeExpression } from '../../base/text.ts';
import { escapePointerToken } from '../../base/json-pointer.ts';
import { isRecord, type JsonObject, listTexts, tryParseJson } from '../../base/json.ts';
import { canBePartial } from '../../checks/json-comparison.ts';
import { printSnapshot } from '../../checks/snapshot.ts';
import { readsLikeError } from '../answers.ts';
import type { ObservedStep, Outcome } from '../exploration.ts';
import { type ExploredRequest, readArguments } from '../../model/explored-request.ts';
import { isValidationMessage } from '../findings/validation-messages.ts';
import { dropOrderMarks, hasAnyOrder, hasOrderMark, isUnordered, separateLines } from '../stability/any-order.ts';
import { maskForms, volatileMark } from '../stability/forms.ts';
import { listMarked } from '../stability/merge-values.ts';
import { readOutcomeText, readResultTexts, repeatsContent } from '../stability/texts.ts';
import { readThing, splitName } from '../vocabulary/names.ts';
import type { RequiredNames } from './title.ts';

/** A value that is asserted as a whole fits on a few lines. */
const longestWhole = 300;
/** A text of several lines reads well up to this length. */
const longestBlock = 1000;
export const longestText = 200;
const shortestText = 3;
const maxParts = 3;
/** The most parts of a text of few lines. */
const maxTexts = 8;

/** Longer results are in files of their own. */
const maxLines = 20;
const longestFile = 64 * 1024;
const maxIgnored = 5;

interface ChecksContext {
  required: RequiredNames;
  /** True if a result came before in the same case, so that a check has to say which one it means. */
  isLater: boolean;
  /** The answer to the same request before it: what differs from it is what the step shows. */
  before?: Outcome | undefined;
  /** True if the text of the answer only confirms what a reader shows. */
  isConfirmation?: boolean;
  /** True if the tool has no other case in which it answers first. */
  isFirst?: boolean;
  /** True if the words of a refusal count, and not only the value, or the subject, that it names. */
  keepsWords?: boolean;
  /** Keeps the text of a file for `toMatchFile`, and returns its path; null if files are not written. */
  keepFile: ((extension: string, text: string) => string) | null;
}

/** Chooses the checks of one step, as a person would: few, and about what is stable. */
export function chooseChecks(step: ObservedStep, context: ChecksContext): JsonObject[] {
  const { request, observation } = step;
  const { outcome } = observation;
  if (outcome.kind === 'error' || (outcome.kind === 'result' && outcome.isError)) {
    return [chooseRefusal(step, context)];
  }
  if (outcome.kind !== 'result') return [];
  if (context.isConfirmation === true && readDocument(outcome) === undefined) return chooseConfirmation(step, context);
  if (request.kind === 'resource') {
    const [only = '', ...others] = readResultTexts(outcome.result);
    const document = others.length === 0 ? parseDocument(only) : undefined;
    const checks =
      document === undefined ? chooseTexts(outcome, { resourceContains: '' }) : chooseParts(document, 'resourceEquals');
    return checks.length > 0 ? checks : chooseMimeType(outcome);
  }
  if (request.kind === 'prompt') return chooseTexts(outcome, { promptContains: '' });
  if (request.kind === 'completion') return chooseCompleted(outcome);
  const checks = readsLikeError(outcome)
    ? chooseUnflagged(step, context)
    : [
        ...chooseResult(outcome, context),
        ...(context.isFirst === true ? chooseCopy(outcome) : []),
        ...chooseBlocks(outcome),
      ];
  return checks.length === 0 ? [{ toolResultIsError: false }] : checks;
}

/** Chooses the completed values, or the first ones of many. */
function chooseCompleted({ result }: Outcome & { kind: 'result' }): JsonObject[] {
  const { completion } = result;
  return isRecord(completion) ? chooseParts(completion['values'], 'completionEquals') : [];
}

function chooseResult(
  outcome: Outcome & { kind: 'result' },
  { isLater, before, keepFile }: ChecksContext,
): JsonObject[] {
  const document = readDocument(outcome);
  const file = keepFile === null ? null : chooseFile(outcome, document, keepFile);
  if (file !== null) return [file];
  if (document !== undefined) {
    const known = before?.kind === 'result' ? readDocument(before) : undefined;
    return chooseParts(document, 'toolResultEquals', known);
  }
  const texts = readResultTexts(outcome.result);
  const [whole = ''] = texts;
  // A part would be found in any case of its letters, and with anything around it.
  if (texts.length === 1 && isBlock(outcome, whole) && isPlain(whole)) {
    return [{ toolResultEquals: dropOrderMarks(whole), ...(hasAnyOrder(whole) && { unordered: true }) }];
  }
  return chooseTexts(outcome, { toolResultContains: '', ...(isLater && { latest: true }) });
}

/** Chooses the value of the call that its confirmation repeats. */
function chooseConfirmation(step: ObservedStep, { isLater }: ChecksContext): JsonObject[] {
  const value = findRepeated(step);
  return value === null
    ? [{ toolResultIsError: false }]
    : [{ toolResultContains: value, ...(isLater && { latest: true }) }];
}

/** What a server may write otherwise before the rest of a path. */
const startOfPath = /^(?:.*\{\{workspace\}\})?(?:\.*\/)*/s;

/** Finds the longest text among the arguments that the answer repeats; null if it repeats none. */
const findRepeated = ({ request, observation }: ObservedStep): string | null =>
  findNamed(request, { text: readOutcomeText(observation.outcome), isShort: false });

/** Finds the longest argument that a text names; null if it names none. Numbers and other short values count in a short text. */
function findNamed(request: ExploredRequest, { text, isShort }: { text: string; isShort: boolean }): string | null {
  const args = request.kind === 'resource' ? { uri: request.uri } : readArguments(request);
  const numbers = isShort ? Object.values(args).filter((value) => typeof value === 'number') : [];
  const [longest] = [...[...listTexts(args)].map((each) => each.text), ...numbers.map(String)]
    .map((value) => value.replace(startOfPath, ''))
    .filter((value) => value.length >= (isShort ? 1 : shortestText) && isPlainValue(value) && hasWords(text, value))
    .toSorted((a, b) => b.length - a.length);
  return longest ?? null;
}

/** Checks if a text has another one between signs, as in quotes. */
const hasWords = (text: string, words: string) =>
  new RegExp(String.raw`(?<![\p{L}\p{N}_])${escapeExpression(words)}(?![\p{L}\p{N}_])`, 'u').test(text);

const isPlainValue = (text: string) => text.length <= longestText && !/[\n\r]|\{\{/.test(text);

/**
 * Checks if the text of an answer is one line of words, which has no number but those of the call: another one counts what the call did, as a
 * document would. The answer may have structured content, too.
 */
export function readsLikeConfirmation({ request, observation: { outcome } }: ObservedStep): boolean {
  if (outcome.kind !== 'result' || outcome.isError || readsLikeError(outcome)) return false;
  const [only = '', ...others] = readResultTexts(outcome.result);
  if (others.length > 0 || !/^[^\n[{<][^\n]*$/.test(only.trim())) return false;
  const sent = listNumbers(JSON.stringify(request));
  return listNumbers(only).every((number) => sent.includes(number));
}

const listNumbers = (text: string): string[] => text.match(/\d+/g) ?? [];

/** Chooses what a refusal says that does not say that it is one: the value that it names in its place, and else its words. */
function chooseUnflagged(step: ObservedStep, { isLater }: ChecksContext): JsonObject[] {
  const { outcome } = step.observation;
  const document = outcome.kind === 'result' ? readDocument(outcome) : undefined;
  if (document !== undefined) {
    const [said, ...others] = listLeaves(document, '').filter(({ value }) => typeof value === 'string');
    const value =
      said === undefined || others.length > 0
        ? null
        : findNamed(step.request, { text: String(said.value), isShort: true });
    if (said === undefined || value === null) return chooseParts(document);
    return [{ toolResultContains: value, path: said.pointer, ...(isLater && { latest: true }) }];
  }
  const message = readOwnMessage(step);
  return message === null ? [] : [{ toolResultContains: message }];
}

/**
 * Chooses what a refusal by the server has to say: the value that it names, or the subject of its tool, which stay where the other words change,
 * or else all its words; of a refusal by a framework the name of the argument.
 */
function chooseWords(
  step: ObservedStep,
  { required, keepsWords }: { required: RequiredNames; keepsWords: boolean },
): string | null {
  const message = readOwnMessage(step);
  if (message === null) return nameArgument(step, required);
  if (keepsWords || isSystemCode(message)) return message;
  return findRepeated(step) ?? findSubject(step.request, message) ?? message;
}

/** Shorter words, such as `get` or `list`, say little. */
const shortestSubject = 5;

/** Finds the word of a message that the called tool is named after, with what the tool is about first; null if it has none, or has a number. */
function findSubject(request: ExploredRequest, message: string): string | null {
  if (request.kind !== 'tool' || /\d/.test(message)) return null;
  const words = (message.match(/\p{L}+/gu) ?? []).filter((word) => word.length >= shortestSubject);
  for (const name of [...readThing(request.tool), ...splitName(request.tool)]) {
    const word = words.find((each) => splitName(each).join(' ') === name);
    if (word !== undefined) return word;
  }
  return null;
}

const isSystemCode = (text: string) => /^E[A-Z]{3,}$/.test(text);

/** Chooses what a refusal has to say, and the code of the protocol. */
function chooseRefusal(step: ObservedStep, { required, keepsWords = false }: ChecksContext): JsonObject {
  const { request, observation } = step;
  const { outcome } = observation;
  const contains = chooseWords(step, { required, keepsWords });
  const error = {
    ...(outcome.kind === 'error' && { code: outcome.code }),
    ...(contains !== null && { contains }),
  };
  if (request.kind !== 'tool') return { requestError: error };
  return Object.keys(error).length > 0 ? { toolError: error } : { toolResultIsError: true };
}

/** What frameworks put before the message of a tool. */
const frameworkPrefix = /^(?:MCP error -?\d+: |Error executing tool \S+: |Error: )+/;

/** The codes that set colours in a terminal. */
const terminalCode = /\p{Cc}\[[\d;]*m/gu;

/** Reads what the server itself says about valid arguments, without what may differ; null if a framework refused them. */
function readOwnMessage({ isValid, observation: { outcome } }: ObservedStep): string | null {
  const text = readOutcomeText(outcome).replace(frameworkPrefix, '');
  if (isValid === false || isValidationMessage(text)) return null;
  // Codes of the operating system stay when Node.js writes the rest of the message in another way.
  const [code] = /\bE[A-Z]{3,}\b(?=:)/.exec(text) ?? [];
  if (code !== undefined) return code;
  // The first line with words. Colours of a terminal and lines of a frame say nothing.
  const line = text.split('\n').find((each) => /\p{L}{3}/u.test(each.replaceAll(terminalCode, ''))) ?? '';
  const parts = splitText(line)
    .flatMap((part) => part.replaceAll(terminalCode, volatileMark).split(volatileMark))
    .flatMap((part) => part.split('{{workspace}}'))
    .map((part) => part.replaceAll(/^[\s"'`:,.()-]+|[\s"'`:,.(-]+$/g, ''));
  const [longest] = parts.toSorted((a, b) => b.length - a.length);
  return longest === undefined || longest.length < 5 ? null : longest.slice(0, longestText);
}

/** Finds the argument that a refusal names; null if its name is too short to mean anything. */
function nameArgument({ request, observation: { outcome } }: ObservedStep, required: RequiredNames): string | null {
  if (request.kind !== 'tool') return null;
  const text = readOutcomeText(outcome);
  const isNamed = (name: string) => hasWords(text, name);
  const missing = (required.get(request.tool) ?? []).filter((name) => !Object.hasOwn(request.arguments, name));
  const names = [...missing, ...Object.keys(request.arguments)].filter((name) => name.length >= shortestText);
  return names.find((name) => isNamed(name) && !name.includes('{{')) ?? null;
}

/** Reads a result as a document: structured content that is no copy of the text, or the only text as JSON; undefined if it is none. */
function readDocument({ result }: Outcome & { kind: 'result' }): JsonObject | readonly unknown[] | undefined {
  const { structuredContent } = result;
  if (isRecord(structuredContent)) return repeatsContent(result) ? undefined : structuredContent;
  const [only = '', ...others] = readResultTexts(result);
  return others.length === 0 ? parseDocument(only) : undefined;
}

function parseDocument(text: string): JsonObject | readonly unknown[] | undefined {
  const parsed = /^\s*[[{]/.test(text) ? tryParseJson(text) : undefined;
  return isRecord(parsed) || Array.isArray(parsed) ? parsed : undefined;
}

/** Keeps a long result in a file, if what varies in it can be left out; null for any other. */
function chooseFile(
  { result }: Outcome & { kind: 'result' },
  document: JsonObject | readonly unknown[] | undefined,
  keepFile: NonNullable<ChecksContext['keepFile']>,
): JsonObject | null {
  if (document === undefined) return chooseTextFile(result, keepFile);
  const text = printSnapshot(document);
  if (!isForFile(text) || hasPrivate(document) || hasOrderMark(text)) return null;
  const ignore = listMarked(document);
  if (ignore.length > maxIgnored) return null;
  return { toMatchFile: keepFile('json', text), ...(ignore.length > 0 && { ignore }) };
}

/** Keeps a long text in a file. Structured content that repeats it has it in a member. */
function chooseTextFile(result: JsonObject, keepFile: NonNullable<ChecksContext['keepFile']>): JsonObject | null {
  const [only = '', ...others] = readResultTexts(result);
  const { structuredContent } = result;
  const [copy] = isRecord(structuredContent) ? Object.entries(structuredContent) : [];
  // A check of the result compares its structured content.
  if (others.length > 0 || isMarked(only) || (structuredContent !== undefined && copy?.[1] !== only)) {
    return null;
  }
  const isLong = only.length > longestBlock || isForFile(only);
  if (!isLong || !isKept(only)) return null;
  const file = keepFile('txt', printSnapshot(only));
  return { toMatchFile: file, ...(copy !== undefined && { path: `/${escapePointerToken(copy[0])}` }) };
}

/** Checks if a text has a part that varies, or parts in any order. */
const isMarked = (text: string) => text.includes(volatileMark) || hasOrderMark(text);

const isForFile = (text: string) => text.split('\n').length > maxLines + 1 && isKept(text);

/** Checks if a file may have a text: it has no name of the machine in it, and is not too long. */
const isKept = (text: string) => text.length <= longestFile && !text.includes('{{workspace}}');

/**
 * Asserts a small document as a whole, whose objects may get more members, or else a few stable values in it, those first that differ from the
 * document `before`. One in any order has no place for a value, so that a larger one is asserted as a whole, too.
 */
function chooseParts(document: unknown, name = 'toolResultEquals', before?: unknown): JsonObject[] {
  const text = JSON.stringify(document);
  const longest = Array.isArray(document) && isUnordered(document) ? longestBlock : longestWhole;
  const isWhole = text.length <= longest && !text.includes(volatileMark) && !hasPrivate(document);
  if (isWhole) {
    const plain = dropOrderMarks(document);
    return [
      { [name]: plain, ...(hasOrderMark(text) && { unordered: true }), ...(canBePartial(plain) && { partial: true }) },
    ];
  }
  const known = new Map(
    before === undefined ? [] : listLeaves(before, '').map(({ pointer, value }) => [pointer, value]),
  );
  const isChanged = ({ pointer, value }: { pointer: string; value: unknown }) =>
    known.has(pointer) && known.get(pointer) !== value;
  const leaves = listLeaves(document, '').filter(
    (leaf) => isTelling(leaf.value) || (leaf.value === '' && isChanged(leaf)),
  );
  const rank = (leaf: { pointer: string; value: unknown }) => (isChanged(leaf) ? -1 : rankLeaf(leaf.value));
  const chosen = new Set(leaves.toSorted((a, b) => rank(a) - rank(b)).slice(0, maxParts));
  return leaves
    .filter((leaf) => chosen.has(leaf))
    .map(({ pointer, value }) => ({
      [name]: dropOrderMarks(value),
      ...(Array.isArray(value) && { unordered: true }),
      path: pointer,
    }));
}

/** Ranks texts of several words before other texts, numbers before flags and zeros. */
function rankLeaf(value: unknown): number {
  if (typeof value === 'string') return /\S\s+\S|.{12}/.test(value) ? 0 : 1;
  return typeof value === 'number' && value !== 0 ? 1 : 2;
}

function isTelling(value: unknown): boolean {
  if (typeof value === 'string') {
    const isStable = value.length <= longestText && !value.includes(volatileMark) && !value.includes('\n');
    return value !== '' && isStable && !isPrivateName(value);
  }
  if (Array.isArray(value)) {
    const text = JSON.stringify(value);
    return text.length <= longestWhole && !text.includes(volatileMark) && !hasPrivate(value);
  }
  return typeof value === 'number' || typeof value === 'boolean';
}

/** By convention, a name of something internal, which another version of a library may not have. `_id` is the key of a document. */
export const isPrivateName = (text: string) => /^_(?!id$)[A-Za-z]\w*$/.test(text);

/** Checks if a document has a private name, as the name of a member or as a value. */
function hasPrivate(value: unknown): boolean {
  if (typeof value === 'string') return isPrivateName(value);
  if (Array.isArray(value)) return value.some(hasPrivate);
  return isRecord(value) && Object.entries(value).some(([name, member]) => isPrivateName(name) || hasPrivate(member));
}

/** Lists the values in a document, with the first ones of each list, and each list in any order as one value. */
function listLeaves(value: unknown, pointer: string): Array<{ pointer: string; value: unknown }> {
  if (Array.isArray(value) && isUnordered(value)) return pointer === '' ? [] : [{ pointer, value }];
  if (Array.isArray(value)) return value.slice(0, 3).flatMap((item, index) => listLeaves(item, `${pointer}/${index}`));
  if (!isRecord(value)) return [{ pointer, value }];
  return Object.entries(value).flatMap(([name, member]) =>
    name.includes(volatileMark) || isPrivateName(name)
      ? []
      : listLeaves(member, `${pointer}/${escapePointerToken(name)}`),
  );
}

/**
 * Asserts stable text: all of it if it is short, and else its longest part of lines that follow each other, with its first and last lines, or
 * parts of them; of few lines also what stays in the others, such as their names. The first member of `check` gets the text.
 */
function chooseTexts(outcome: Outcome, check: JsonObject): JsonObject[] {
  const [only = ''] = outcome.kind === 'result' ? readResultTexts(outcome.result) : [];
  const text = separateLines(only);
  const whole = text.trim();
  const [name = ''] = Object.keys(check);
  const fill = (part: string) => ({ ...check, [name]: part });
  if (whole.length <= longestText && whole.length > 0 && !text.includes(volatileMark)) return [fill(whole)];
  // JSON with marks in it has lost the white space of the server.
  if (isMarked(text) && parseDocument(text) !== undefined) return [];
  const lines = text.split('\n').flatMap(splitText);
  const [longest = ''] = [...listBlocks(text), ...lines].toSorted((a, b) => b.length - a.length);
  const first = [longest, lines[0] ?? '', lines.at(-1) ?? ''];
  const parts: string[] = [];
  for (const part of isFewLines(text) ? [...first, ...lines] : first) {
    if (part !== '' && parts.length < maxTexts && !parts.some((other) => other.includes(part))) parts.push(part);
  }
  const place = (part: string) => text.indexOf(part);
  return parts.toSorted((a, b) => place(a) - place(b)).map(fill);
}

/** Lists the stable parts of a text that have several lines, and are short enough to read. */
function listBlocks(text: string): string[] {
  if (!text.includes(volatileMark)) return [];
  const blocks = text.split(volatileMark).map((part) => part.trim());
  return blocks.filter(
    (block) => block.includes('\n') && isPlain(block) && block.split('\n').flatMap(splitText).length > 0,
  );
}

/** Lists the stable parts of the lines of a text that say something. */
export function listStableParts(text: string): string[] {
  return maskForms(text).split('\n').flatMap(splitText);
}

/** Lists the stable parts of a line that say something. */
function splitText(line: string): string[] {
  return line
    .split(volatileMark)
    .map((part) => part.trim())
    .filter((part) => part.length >= shortestText && part.length <= longestText && /\p{L}{3}|\d/u.test(part));
}

/** Checks if a text of few lines stays the same in an evals file, and on each system. */
const isPlain = (text: string) => isFewLines(text) && !text.includes(volatileMark) && !text.includes('\r');

const isFewLines = (text: string) => text.length <= longestBlock && text.split('\n').length <= maxLines + 1;

/** Checks if a text is a block of its own: the text of an embedded resource is not compared. */
function isBlock({ result: { content } }: Outcome & { kind: 'result' }, text: string): boolean {
  const blocks: unknown[] = Array.isArray(content) ? content : [];
  return blocks.some((block) => isRecord(block) && block['type'] === 'text' && block['text'] === text);
}

/** Asserts the MIME type of a resource without text, if its contents share one. */
function chooseMimeType({ result: { contents } }: Outcome & { kind: 'result' }): JsonObject[] {
  const parts: unknown[] = Array.isArray(contents) ? contents : [];
  const types = new Set(parts.map((part) => (isRecord(part) ? part['mimeType'] : undefined)));
  const [mimeType] = types;
  return types.size === 1 && typeof mimeType === 'string' ? [{ resourceMimeType: mimeType }] : [];
}

/** Asserts that an answer with structured content has text, too: a host that knows no structured content shows nothing else. */
function chooseCopy({ result }: Outcome & { kind: 'result' }): JsonObject[] {
  const hasText = readResultTexts(result).some((text) => text !== '');
  return isRecord(result['structuredContent']) && hasText ? [{ toolResultContent: { type: 'text' } }] : [];
}

/** Asserts the first block of another kind than text: an image, a sound, a resource or a link. */
function chooseBlocks({ result: { content } }: Outcome & { kind: 'result' }): JsonObject[] {
  const blocks: unknown[] = Array.isArray(content) ? content : [];
  const other = blocks.filter(isRecord).find(({ type }) => type !== 'text');
  if (other === undefined) return [];
  const { type, resource } = other;
  const { mimeType, uri } = isRecord(resource) ? resource : other;
  const isStable = (value: unknown) => typeof value === 'string' && !/\{\{|\*/.test(value);
  return [
    {
      toolResultContent: {
        type,
        ...(isStable(uri) && { uri }),
        ...(isStable(mimeType) && { mimeType }),
      },
    },
  ];
}
