// Reads the facts of a profile from what a host showed.
import type { JsonObject } from '../../src/base/json.ts';
import { isJsonEqual, isRecord } from '../../src/base/json.ts';
import { boundedSchema, image, instructions, longNames, oddName, serverName } from './probe.ts';
import {
  findDeferredName,
  findSearch,
  findTool,
  isWhole,
  listTexts,
  readStem,
  type Seen,
  type Turn,
} from './scripts.ts';
import { joinTexts, readObject, type SeenRequest, type SeenTool } from './seen.ts';

/** A value as a profile has it, or why there is none. */
export type Measured = { value: unknown } | { missing: string };

/** By path, such as `results.image`. */
export type Facts = Map<string, Measured>;

const missing = (reason: string): Measured => ({ missing: reason });

/** Counts the characters of a long text from its beginning that another text has; null if it has not even the first word. */
function countShown(long: string, text: string): number | null {
  const start = text.indexOf(long.slice(0, 10));
  if (start === -1) return null;
  let length = 0;
  while (length < long.length && text[start + length] === long[length]) length += 1;
  return length;
}

/** Reads a limit: what is shown of a text, with three dots, which hosts count. Null if all of it is shown; hosts may remove white space at the end. */
export function readLimit(long: string, text: string): { limit: number | null } | null {
  const shown = countShown(long, text);
  if (shown === null) return null;
  if (shown >= long.length - 1) return { limit: null };
  const rest = text.slice(text.indexOf(long.slice(0, 10)) + shown);
  return { limit: shown + (rest.startsWith('...') ? 3 : 0) };
}

/** The request that shows tools with their schemas. */
const readShown = ({ first, found }: Seen): SeenRequest | null => found?.request ?? first;

/** `lengths` is of a server with a name of each length. */
export function readNames(seen: Seen, lengths: Seen): Measured {
  const { first } = seen;
  if (first === null) return missing('No request reached the provider.');
  const readName = (tool: string) => readFirstName(first, tool);
  const [plain, odd] = [readName('say'), readName(oddName)];
  if (plain === null) return missing('The request names no tool of the server.');
  if (lengths.first === null || readFirstName(lengths.first, 'say') === null) {
    return missing('The request names no tool of the server with long names.');
  }
  const { first: request } = lengths;
  const pattern = plain.name.replace(serverName, '{server}').replace(/say$/, '{tool}');
  const namespace = plain.namespace?.replace(serverName, '{server}') ?? null;
  const fill = (tool: string) => pattern.replace('{server}', serverName).replace('{tool}', tool);
  const long = longNames.map((tool) => ({
    full: fill(tool),
    shown: readFirstName(request, tool),
  }));
  return {
    value: {
      pattern,
      namespace,
      kept: odd === null ? 'not shown' : readKept(odd.name),
      ...readLong(long.map(({ full, shown }) => ({ full, shown: shown?.name ?? null }))),
    },
  };
}

/** Finds the characters that stay, by those that stand between the letters of the odd name. */
function readKept(name: string): string | null {
  const shown = name.slice(name.indexOf(readStem(oddName)));
  if (shown === oddName) return null;
  const extra = ['.', '-', '/', ' '].filter((character) => shown.includes(character));
  return `A-Za-z0-9_${extra.filter((character) => character !== '-').join('')}${extra.includes('-') ? '-' : ''}`;
}

/** The limit is the largest name that is whole; a name that is cut says how. */
function readLong(names: ReadonlyArray<{ full: string; shown: string | null }>): {
  limit: number | null;
  long: string;
} {
  const longer = names.find(({ full, shown }) => full !== shown);
  if (longer === undefined) return { limit: null, long: 'kept' };
  const limit = Math.max(0, ...names.filter(({ full, shown }) => full === shown).map(({ full }) => full.length));
  const { full, shown } = longer;
  if (shown === null) return { limit, long: 'tool-dropped' };
  if (full.startsWith(shown)) return { limit, long: 'cut-end' };
  return { limit, long: shown.endsWith(full.slice(-8)) ? 'cut-middle' : 'hash' };
}

function readFirstName(request: SeenRequest, tool: string): { name: string; namespace: string | null } | null {
  const shown = findTool(request, tool);
  if (shown !== undefined) return shown;
  const name = findDeferredName(request, tool);
  return name === null ? null : { name, namespace: null };
}

export function readDeferral({ first }: Seen): Measured {
  if (first === null) return missing('No request reached the provider.');
  if (findTool(first, 'say') !== undefined) return { value: { kind: 'none' } };
  if (findDeferredName(first, 'say') === null) return missing('The request names no tool of the server.');
  const description = 'd00000000';
  const shown = listTexts(first).find((text) => text.includes(description));
  return { value: { kind: 'search', characters: shown === undefined ? 0 : countWords(shown) } };
}

/** Counts the characters of the long description that a text has, with the dots of the host. */
function countWords(text: string): number {
  const [, words = '', dots = ''] = /(d00000000 [d0-9 ]*)(\.\.\.|…)?/.exec(text) ?? [];
  return words.trimEnd().length + dots.length;
}

/** `search` of the profile has more that one run does not show. */
export function readSearch({ first, found }: Seen): Measured {
  if (first === null) return missing('No request reached the provider.');
  const name = findSearch(first);
  if (name === null || found === null) return missing('The host shows all tools at once.');
  return { value: { name } };
}

export function readForApps(seen: Seen): Measured {
  const shown = readShown(seen);
  if (shown === null) return missing('No request reached the provider.');
  const isShown = findTool(shown, 'app_only') !== undefined || findDeferredName(shown, 'app_only') !== null;
  return { value: isShown ? 'shown' : 'hidden' };
}

/** Reads a limit for descriptions from the tools that a host shows at once. */
export function readDescription(seen: Seen, text: string): Measured {
  const shown = readShown(seen);
  const tool = shown === null ? undefined : findTool(shown, 'described');
  const limit = readLimit(text, tool?.description ?? seen.found?.text ?? '');
  return limit === null ? missing('The description is not in the request.') : { value: limit };
}

export function readInstructions({ first }: Seen): Measured {
  if (first === null) return missing('No request reached the provider.');
  const find = (texts: readonly string[]) => texts.map((text) => readLimit(instructions, text)).find((n) => n !== null);
  const at = {
    namespace: find([first.otherTools, ...listTexts(first).filter((text) => spaceForm.test(text))]),
    'system-prompt': find([first.system]),
    'with-tools': find(first.tools.map(({ description }) => description)),
    message: find(first.messages.map(({ parts }) => joinTexts(parts))),
  };
  for (const [shown, limit] of Object.entries(at)) if (limit !== undefined) return { value: { shown, ...limit } };
  // A request without any tool of the server was made before the server was ready, or hides them.
  const isShown = findTool(first, 'say') !== undefined || findDeferredName(first, 'say') !== null;
  return isShown ? { value: { shown: 'never' } } : missing('The request names no tool of the server.');
}

/** The instructions as the description of a namespace in a list. */
const spaceForm = new RegExp(`__${serverName}: ${instructions.slice(0, 10)}`);

/** The keywords of the bounded schema that hosts are known to drop. */
const keywords = [
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'pattern',
  'default',
  'examples',
];

export function readSchemaChanges(seen: Seen): Measured {
  const shown = readShown(seen);
  const tool = shown === null ? undefined : findTool(shown, 'bounded');
  const text = tool === undefined ? (seen.found?.text ?? '') : JSON.stringify(tool.schema);
  if (!text.includes('share')) return missing('The schema is not in the request.');
  const isKept = (keyword: string) => new RegExp(`\\\\?"${keyword}\\\\?"\\s*:`).test(text);
  const lost = keywords.filter((keyword) => !isKept(keyword));
  const isDescribed = tool !== undefined && hasWords(tool);
  return {
    value: [
      ...(lost.length === 0 ? [] : [{ kind: isDescribed ? 'keywords-described' : 'keywords-dropped', keywords: lost }]),
      ...(tool !== undefined && hasMore(tool) ? [{ kind: 'parameter-added' }] : []),
      ...(tool?.schema['additionalProperties'] === false ? [{ kind: 'closed' }] : []),
    ],
  };
}

/** Checks if a description of a property has words of a bound. */
function hasWords({ schema }: SeenTool): boolean {
  const properties = Object.values(readObject(schema['properties'])).filter(isRecord);
  return properties.some(({ description }) => typeof description === 'string' && /7|\^\[a-z\]/.test(description));
}

function hasMore({ schema }: SeenTool): boolean {
  return Object.keys(readObject(schema['properties'])).some((name) => !Object.hasOwn(boundedSchema.properties, name));
}

/** Reads what a host drops of a server in which one tool has a property with the schema `true`. */
export function readRefused({ first }: Seen): Measured {
  if (first === null) return missing('No request reached the provider.');
  const isShown = (tool: string) => findTool(first, tool) !== undefined || findDeferredName(first, tool) !== null;
  if (isShown('with_true')) return { value: null };
  return { value: { shape: 'property-true', drops: isShown('say') ? 'tool' : 'server' } };
}

/** Words that a host puts around each result. */
function removeFrame(text: string, frame: string): string {
  const mask = (line: string) => line.replaceAll(/\d+/g, '0').trim();
  const known = new Set(frame.split('\n').map(mask));
  return text
    .split('\n')
    .filter((line) => line.trim() !== '' && !known.has(mask(line)))
    .join('\n');
}

const textOf = (turn: Turn) => joinTexts(turn.result?.parts ?? []);

/** Reads what a model sees of a part that is no text. */
function readPartHandling(turn: Turn, { frame, mark, json }: { frame: string; mark: string; json: string }): string {
  const { result, added } = turn;
  if (result === null) return 'lost';
  const text = removeFrame(textOf(turn), frame);
  const isIn = (parts: readonly { kind: string; text: string }[]) =>
    parts.some((part) => part.kind !== 'text' && part.text.includes(mark));
  if (isIn(result.parts)) return 'shown';
  if (added.some(({ parts }) => isIn(parts))) return 'message';
  if (text.includes(json)) return 'json';
  if (text.includes(mark)) return 'text';
  if (/\/\S+\/\S+\.\w+/.test(text)) return 'file';
  // What an empty result shows is no note of what was there.
  return text === '' || /^\W*(empty|no) (result|content|output)\W*$/i.test(text.trim()) ? 'lost' : 'note';
}

export function readResults(seen: Seen, isReceived: (tool: string) => boolean): Facts {
  const facts: Facts = new Map();
  const frame = textOf(seen.turns.get('say') ?? { result: null, added: [], after: seen.first! }).replace(
    'mark-say',
    '',
  );
  const add = (path: string, tool: string, read: (turn: Turn, text: string) => unknown) => {
    const turn = seen.turns.get(tool);
    const isReached = turn !== undefined && isReceived(tool);
    facts.set(
      `results.${path}`,
      isReached ? { value: read(turn, textOf(turn)) } : missing('The call did not reach the server.'),
    );
  };
  add('structured', 'structured', (_, text) => {
    const [isText, isStructured] = [text.includes('mark-text'), text.includes('mark-structured')];
    if (isText && isStructured) return 'both';
    return isStructured ? 'structured' : 'text';
  });
  // Only where texts are not shown does an image next to them say something.
  if (isJsonEqual(facts.get('results.structured'), { value: 'structured' })) {
    add('structuredImage', 'structured_image', ({ result, added }) =>
      [...(result?.parts ?? []), ...added.flatMap(({ parts }) => parts)].some(({ text }) => text === image)
        ? 'shown'
        : 'lost',
    );
  }
  add('structuredAlone', 'structured_alone', (_, text) => {
    if (text.includes('mark-alone')) return 'json';
    return /^(\{\})?$/.test(removeFrame(text, frame).trim()) ? 'nothing' : 'placeholder';
  });
  add('error', 'fail', ({ result }, text) => {
    if (result?.isError === true) return 'marked';
    return removeFrame(text.replace('mark-fail', ''), frame).trim() === '' ? 'unmarked' : 'prefixed';
  });
  const parts = [
    ['image', 'image', image, '"type":"image"'],
    ['resource', 'resource', 'mark-resource', '"type":"resource"'],
    ['link', 'link', 'mark-uri', '"type":"resource_link"'],
    ['audio', 'audio', 'UklGR', '"type":"audio"'],
  ] as const;
  for (const [path, tool, mark, json] of parts) {
    add(path, tool, (turn) => readPartHandling(turn, { frame, mark, json }));
  }
  add('forUser', 'for_user', (_, text) => (text.includes('mark-user') ? 'shown' : 'lost'));
  return facts;
}

export interface LongResult {
  /** The largest size that was shown whole, and the smallest that was cut; null if none was cut. */
  whole: number;
  cut: number | null;
  head: number;
  tail: number;
  rest: 'file' | 'dropped';
  isError: boolean;
}

export function readLongResult({ turns }: Seen): Measured {
  const sized = [...turns].flatMap(([name, turn]) => {
    const size = Number(name.split(':')[1]);
    return name.startsWith('sized:') ? [{ size, turn, isShown: isWhole(turn, size) }] : [];
  });
  const cuts = sized.filter(({ isShown }) => !isShown).toSorted((a, b) => a.size - b.size);
  const whole = Math.max(0, ...sized.filter(({ isShown }) => isShown).map(({ size }) => size));
  const [smallest] = cuts;
  if (sized.length === 0) return missing('No call reached the server.');
  if (smallest === undefined) return { value: null };
  const { size, turn } = cuts.at(-1)!;
  const text = textOf(turn);
  const words = [...text.matchAll(/s(\d{8}) ?/g)].map(([, digits]) => Number(digits));
  // The numbers go up by one in the head, and again to the last one in the tail.
  const breaks = words.findIndex((word, index) => index > 0 && word !== words[index - 1]! + 1);
  const hasHead = words[0] === 0;
  const headWords = hasHead ? (breaks === -1 ? words.length : breaks) : 0;
  const hasTail = words.at(-1) === size / 10 - 1;
  const value: LongResult = {
    whole,
    cut: smallest.size,
    head: headWords * 10,
    tail: hasTail ? (words.length - headWords) * 10 : 0,
    rest: /\/\S+\/\S+/.test(removeWords(text)) ? 'file' : 'dropped',
    isError: turn.result?.isError === true,
  };
  return { value };
}

const removeWords = (text: string) => text.replaceAll(/s\d{8} ?/g, '');

export function readArguments(seen: Seen, isReceived: (tool: string) => boolean): Measured {
  if (!seen.turns.has('bounded')) return missing('The host was not asked to call the tool.');
  return { value: isReceived('bounded') ? 'passed-on' : 'checked' };
}

/** What profiles have no fact for, as sentences. */
export function describeMore(seen: Seen, isListedAgain: boolean): JsonObject {
  const readMeeting = (tool: string) => {
    const turn = seen.turns.get(tool);
    if (turn === undefined) return 'not measured';
    return textOf(turn).includes('mark-met') ? 'at the same time' : 'one after the other';
  };
  const extended = seen.turns.get('extend')?.after;
  const isAdded =
    extended !== undefined &&
    (findTool(extended, 'added_later') !== undefined || findDeferredName(extended, 'added_later') !== null);
  return {
    'two calls in an answer': readMeeting('meet'),
    'two calls of a tool with readOnlyHint': readMeeting('meet_reading'),
    'list_changed: the tools are listed again': extended === undefined ? 'not measured' : isListedAgain,
    'list_changed: the next request shows the tool': extended === undefined ? 'not measured' : isAdded,
  };
}
