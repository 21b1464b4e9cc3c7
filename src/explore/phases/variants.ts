import { isRecord, type JsonObject, listTexts } from '../../base/json.ts';
import type { ListedTool } from '../inventory.ts';
import type { Knowledge } from '../knowledge.ts';
import { findTwins, type Parameter, writeInCapitals } from '../schema/parameters.ts';
import { readType } from '../schema/resolve.ts';
import { readVerb, splitName } from '../vocabulary/names.ts';
import { findDescribedLists } from '../vocabulary/described-values.ts';
import { largeNumber, manyLines, otherIndent, typicalUnits, unknownValues } from '../vocabulary/typical-values.ts';
import type { TwoLines } from '../vocabulary/file-texts.ts';
import { listExclusions, findPathRole, namesHeldText, namesNewText, readLimits } from '../vocabulary/vocabulary.ts';
import { listUnknown } from './errors.ts';

/** Names of numbers that limit how much an answer has. */
const namesOfAmounts = /\b(?:head|tail|line|limit|top|count)\b/;

/**
 * Makes other values from arguments that work: a search that leaves a directory of `files` out, a list of which one part is missing, a path
 * below a directory that is missing, a value in capitals, many or more than there are, other units of a conversion, and an edit of two lines.
 * Each stands for one that the call had, in its form.
 */
export function listVariants(
  tool: ListedTool,
  working: JsonObject,
  { files, twoLines }: Pick<Knowledge, 'files' | 'twoLines'> = { files: [], twoLines: null },
): JsonObject[] {
  const ofParameters = tool.parameters.flatMap((parameter) =>
    [
      mixList(parameter, tool, working[parameter.name]),
      putBelow(parameter, tool, working[parameter.name]),
      writeInCapitals(parameter.schema),
      ...ask(parameter, tool),
    ].flatMap((value) => (value === undefined ? [] : [{ [parameter.name]: value }])),
  );
  return [
    ...listExclusions(tool, files),
    ...ofParameters,
    ...listConversions(tool),
    ...listEdits(tool, working, twoLines),
  ];
}

/**
 * Replaces two lines of a file by lines without indentation, and two lines that have other white space in the file: a tool that keeps the
 * indentation compares lines. A list of edits gets one for each line.
 */
function listEdits(tool: ListedTool, working: JsonObject, twoLines: TwoLines | null): JsonObject[] {
  const place = findPlace(tool, working);
  const isEdit = [...listTexts(working)].some(({ path }) => isNamed(namesHeldText, path.at(-1)));
  if (place === null || twoLines === null || !isEdit) return [];
  const { file, lines } = twoLines;
  const wanted = lines.map((line) => `${line.trim()}!`).join('\n');
  const ofBoth = [lines, lines.map((line) => `${otherIndent}${line}`)].map((held) =>
    replaceTexts(working, { held: held.join('\n'), wanted }),
  );
  return [...ofBoth, ...editEach(working, lines)].map((edited) => ({
    ...edited,
    [place.name]: writePlace(place.path, file),
  }));
}

/** Replaces each of two lines by an edit of its own, where a call takes a list of them. */
function editEach(working: JsonObject, lines: TwoLines['lines']): JsonObject[] {
  return Object.entries(working).flatMap(([name, edits]) => {
    const [edit]: unknown[] = Array.isArray(edits) ? edits : [];
    if (!isRecord(edit)) return [];
    return [{ [name]: lines.map((line) => replaceTexts(edit, { held: line, wanted: `${line}!` })) }];
  });
}

const isNamed = (names: RegExp, key: unknown) => names.test(splitName(String(key)).join(' '));

function replaceTexts(args: JsonObject, texts: { held: string; wanted: string }): JsonObject {
  const replace = (key: string, value: unknown): unknown => {
    if (Array.isArray(value)) return value.map((item) => replace(key, item));
    if (isRecord(value)) return replaceTexts(value, texts);
    if (typeof value !== 'string') return value;
    return isNamed(namesHeldText, key) ? texts.held : isNamed(namesNewText, key) ? texts.wanted : value;
  };
  return Object.fromEntries(Object.entries(args).map(([key, value]) => [key, replace(key, value)]));
}

/** The most conversions that are tried. */
const maxConversions = 20;

/** Converts between the words of each list that the description has, or between typical units: words of two lists do not go together. */
function listConversions({ parameters, description }: ListedTool): JsonObject[] {
  const twins = findTwins(parameters);
  if (twins === null) return [];
  const [from, to] = twins;
  const described = findDescribedLists([description, ...twins.map((each) => each.description)].join('\n'));
  const lists = described.length > 0 ? described : /\bunit$/.test(splitName(from.name).join(' ')) ? typicalUnits : [];
  const pairs = lists.flatMap((words) =>
    words.map((word, index) => ({ [from.name]: word, [to.name]: words[index + 1] ?? words[0] })),
  );
  return pairs.slice(0, maxConversions);
}

/**
 * Chooses a file or a directory that shows what an optional parameter does: for an amount of lines, a file whose letters have several
 * bytes; for one of several orders, a directory of files alone, since each file system gives directories another size. Empty if the
 * call names none, or the workspace has none.
 */
export function choosePlace(
  tool: ListedTool,
  { name, schema, isRequired }: Parameter,
  {
    working,
    knowledge: { files, wideFile },
  }: { working: JsonObject; knowledge: Pick<Knowledge, 'files' | 'wideFile'> },
): JsonObject {
  if (isRequired || readVerb(tool.name) !== 'read') return {};
  const isDirectory = Array.isArray(schema['enum']);
  const chosen = isDirectory ? findDirectoryOfFiles(files) : isLines(name) ? wideFile : null;
  if (chosen === null) return {};
  const place = findPlace(tool, working);
  // A tool that reads a file takes no directory, and the other way round.
  if (place === null || isDirectory !== isPathOfDirectory(place.path, files)) return {};
  return { [place.name]: writePlace(place.path, chosen) };
}

/** Finds the argument that names what is there in the workspace; null if there is none. */
export function findPlace(tool: ListedTool, working: JsonObject): { name: string; path: string } | null {
  const place = tool.parameters.find(({ name, isRequired }) => {
    const role = findPathRole({ name, tool });
    return isRequired && role !== null && !role.isMade && typeof working[name] === 'string';
  });
  return place === undefined ? null : { name: place.name, path: String(working[place.name]) };
}

/** Writes the path of a file in the form of another path. */
const writePlace = (like: string, file: string) => (like.startsWith('{{workspace}}') ? `{{workspace}}/${file}` : file);

const isLines = (name: string) => /\b(?:head|tail|line)\b/.test(splitName(name).join(' '));

function isPathOfDirectory(path: string, files: readonly string[]): boolean {
  const relative = path.replace(/^\{\{workspace\}\}\/?/, '');
  return relative === '' || relative === '.' || files.some((file) => file.startsWith(`${relative}/`));
}

/** Finds a directory with several files, and no other directory; null if there is none. */
function findDirectoryOfFiles(files: readonly string[]): string | null {
  const directories = files.flatMap((file) => (file.includes('/') ? file.slice(0, file.lastIndexOf('/')) : []));
  const found = directories.find(
    (directory, index) =>
      directories.indexOf(directory) !== index && !directories.some((other) => other.startsWith(`${directory}/`)),
  );
  return found ?? null;
}

function mixList(parameter: Parameter, tool: ListedTool, sent: unknown): unknown[] | undefined {
  if (!Array.isArray(sent) || sent.length === 0 || parameter.schema['maxItems'] === 1) return undefined;
  const role = findPathRole({ name: parameter.name, tool });
  if (role?.isMade === true) return undefined;
  const [unknown] = listUnknown(parameter, tool, sent);
  return Array.isArray(unknown) ? [sent[0], ...(unknown as unknown[])] : undefined;
}

function putBelow({ name }: Parameter, tool: ListedTool, sent: unknown): string | undefined {
  if (typeof sent !== 'string' || findPathRole({ name, tool })?.isMade !== true) return undefined;
  const parts = sent.split('/');
  return [...parts.slice(0, -1), unknownValues.directory, ...parts.slice(-1)].join('/');
}

/** Asks for many and for more than there is, where a number limits an answer. */
function ask({ name, schema }: Parameter, tool: ListedTool): number[] {
  const type = readType(schema);
  const isAmount = namesOfAmounts.test(splitName(name).join(' ')) && (type === 'integer' || type === 'number');
  if (!isAmount || readVerb(tool.name) !== 'read') return [];
  return [manyLines, largeNumber].filter(readLimits(schema, type === 'integer').allows);
}
