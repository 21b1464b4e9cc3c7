import type { JsonObject } from '../../base/json.ts';
import type { ListedTool } from '../inventory.ts';
import type { Knowledge } from '../knowledge.ts';
import { findTwins, type Parameter, writeInCapitals } from '../schema/parameters.ts';
import { readType } from '../schema/resolve.ts';
import { readVerb, splitName } from '../vocabulary/names.ts';
import { findDescribedLists } from '../vocabulary/described-values.ts';
import { largeNumber, manyLines, typicalUnits, unknownValues } from '../vocabulary/typical-values.ts';
import { excludeDirectory, findPathRole, readLimits } from '../vocabulary/vocabulary.ts';
import { listUnknown } from './errors.ts';

/** Names of numbers that limit how much an answer has. */
const namesOfAmounts = /\b(?:head|tail|line|limit|top|count)\b/;

/**
 * Makes other values from arguments that work: a search that leaves a directory of `files` out, a list of which one part is missing, a path
 * below a directory that is missing, and many or more than there are. Each stands for one that the call had, in its form.
 */
export function listVariants(tool: ListedTool, working: JsonObject, files: readonly string[] = []): JsonObject[] {
  const excluding = excludeDirectory(tool, files);
  const ofParameters = tool.parameters.flatMap((parameter) =>
    [
      mixList(parameter, tool, working[parameter.name]),
      putBelow(parameter, tool, working[parameter.name]),
      writeInCapitals(parameter.schema),
      ...ask(parameter, tool),
    ].flatMap((value) => (value === undefined ? [] : [{ [parameter.name]: value }])),
  );
  return [...(excluding === undefined ? [] : [excluding]), ...ofParameters, ...listConversions(tool)];
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
  const place = tool.parameters.find((each) => {
    const role = findPathRole({ name: each.name, tool });
    return each.isRequired && role !== null && !role.isMade && typeof working[each.name] === 'string';
  });
  const path = String(place === undefined ? '' : working[place.name]);
  // A tool that reads a file takes no directory, and the other way round.
  if (place === undefined || isDirectory !== isPathOfDirectory(path, files)) return {};
  return { [place.name]: path.startsWith('{{workspace}}') ? `{{workspace}}/${chosen}` : chosen };
}

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
