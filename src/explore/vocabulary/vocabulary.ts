import { isRecord, type JsonObject } from '../../base/json.ts';
import type { ListedTool } from '../inventory.ts';
import { listBranches, readType } from '../schema/resolve.ts';
import { findTwins, listParameters, listProperties } from '../schema/parameters.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { findDescribedDocuments, findDescribedLists, findDescribedValues, readAs } from './described-values.ts';
import { byDepth, countLines, type FileTexts, listPatterns, listWords, matchesSome } from './file-texts.ts';
import { findLearned, type LearnedValue } from './learned-values.ts';
import { readThing, readVerb, splitName } from './names.ts';
import { readReference } from '../world/placeholders.ts';
import { databaseFile, isStatement, sampleTable } from './statements.ts';
import {
  directoryNames,
  lastCommit,
  pathNames,
  typicalFormats,
  typicalNumbers,
  typicalTexts,
  belowDirectory,
} from './typical-values.ts';

/** The known sources of values that a server accepts. */
export interface Vocabulary {
  workspace: Pick<Workspace, 'files' | 'blank' | 'directories'> & { texts?: FileTexts; checkouts?: readonly string[] };
  resources: readonly string[];
  /** Values that hold in every new world. */
  learned: readonly LearnedValue[];
  /** Values that the earlier steps of a session have made, best first. */
  ofSession: readonly LearnedValue[];
  /** Files that these steps made under another name than they were given. */
  made?: readonly string[];
}

/** A value to fill in, with its name and surroundings. */
interface Slot {
  name: string;
  description: string;
  tool: Pick<ListedTool, 'name' | 'description' | 'inputSchema'>;
  depth: number;
}

/** The most values that are tried for one slot. */
const maxValues = 12;
const maxDepth = 5;

/** Lists values for a property, the most promising first. All of them keep within the limits of its schema. */
export function listValues(schema: JsonObject, slot: Slot, vocabulary: Vocabulary): unknown[] {
  const { const: constant, enum: members, examples, default: fallback } = schema;
  if (constant !== undefined) return [constant];
  if (Array.isArray(members)) return members.toSorted((a, b) => Number(a === null) - Number(b === null));
  const given = [...(Array.isArray(examples) ? examples : []), ...(fallback === undefined ? [] : [fallback])];
  const branches = listBranches(schema, slot.tool.inputSchema);
  const made = branches.flatMap((branch) => listOfType(branch, slot, vocabulary));
  // An empty default is allowed, but shows little.
  const isEmpty = (value: unknown) => value === null || value === '' || (Array.isArray(value) && value.length === 0);
  const values = [...given.filter((value) => !isEmpty(value)), ...made, ...given.filter(isEmpty)];
  return dropEqual(values).slice(0, maxValues);
}

function listOfType(schema: JsonObject, slot: Slot, vocabulary: Vocabulary): unknown[] {
  if (slot.depth > maxDepth) return [];
  switch (readType(schema)) {
    case 'object':
      return listObjects(schema, slot, vocabulary);
    case 'array':
      return listArrays(schema, slot, vocabulary);
    case 'number':
      return listNumbers(schema, slot, vocabulary, false);
    case 'integer':
      return listNumbers(schema, slot, vocabulary, true);
    case 'boolean':
      return [true, false];
    case 'null':
      return [null];
    default:
      return listTexts(schema, slot, vocabulary);
  }
}

/** Lists the object with its required members, with all members, and with other values of its first members. */
function listObjects(schema: JsonObject, slot: Slot, vocabulary: Vocabulary): JsonObject[] {
  const { inputSchema } = slot.tool;
  const members = listProperties(schema, inputSchema).map(({ name, isRequired, schema: own, description }) => {
    const inside = { ...slot, name: joinNames(slot.name, name), description, depth: slot.depth + 1 };
    return { name, isRequired, values: listValues(own, inside, vocabulary) };
  });
  const build = (isTaken: (isRequired: boolean) => boolean, from = 0) =>
    chooseDistinct(
      members
        .filter(({ isRequired, values }) => values.length > 0 && isTaken(isRequired))
        .map(({ name, values }) => ({ name, values: rotate(values, from) })),
    );
  const rounds = Math.min(4, Math.max(1, ...members.map(({ values }) => values.length)));
  const others = Array.from({ length: rounds - 1 }, (_, index) => build((isRequired) => isRequired, index + 1));
  const least = build((isRequired) => isRequired);
  const all = build(() => true);
  const isFree =
    members.length === 0 && (isRecord(schema['additionalProperties']) || schema['additionalProperties'] === true);
  const extra = isFree ? [...findDescribedDocuments(slot.description).filter(isRecord), ...listFree(slot)] : [];
  return Object.keys(least).length === 0 ? [...extra, all, least, ...others] : [least, all, ...others];
}

const rotate = <Value>(values: readonly Value[], by: number) =>
  values.map((_, index) => values[(index + by) % values.length]);

/**
 * Chooses the first value of each member. A text that another member has is chosen only where there is no other one: the ends of a
 * relation that are the same show neither which is which nor what lies between them.
 */
export function chooseDistinct(members: ReadonlyArray<{ name: string; values: readonly unknown[] }>): JsonObject {
  const taken = new Set<string>();
  const choose = (values: readonly unknown[]) => {
    const [first] = values;
    if (typeof first !== 'string' || !taken.has(first)) return first;
    const others = values.filter((value) => typeof value === 'string' && !taken.has(value));
    // A word says more than a digit.
    return others.find((value) => String(value).length > 1) ?? others[0] ?? first;
  };
  return Object.fromEntries(
    members.map(({ name, values }) => {
      const value = choose(values);
      if (typeof value === 'string') taken.add(value);
      return [name, value];
    }),
  );
}

/** Names of objects whose members are columns or fields. */
const namesRecord = /\b(?:data|record|row|value|field|column|condition|where|filter|document|item|change|criteria)$/;

/** Lists objects whose members the schema leaves open: of a record, `name` is the most common one. */
function listFree({ name, tool }: Slot): JsonObject[] {
  const others = [{ alpha: 'beta' }];
  const words = splitName(name).join(' ');
  if (!namesRecord.test(words)) return others;
  // What an update sets differs from what it finds.
  const isSet = readVerb(tool.name) === 'update' && !/\b(?:condition|where|filter|criteria)$/.test(words);
  return [{ name: isSet ? 'beta' : 'alpha' }, ...others];
}

/** The members of `entities` have names such as `entity name`. */
function joinNames(outer: string, inner: string): string {
  return [...splitName(outer), ...splitName(inner)].join(' ');
}

function listArrays(schema: JsonObject, slot: Slot, vocabulary: Vocabulary): unknown[][] {
  const { minItems, maxItems, items, prefixItems } = schema;
  const least = typeof minItems === 'number' ? minItems : 0;
  const most = typeof maxItems === 'number' ? maxItems : 50;
  const itemSchema = isRecord(items) ? items : {};
  const inside = { ...slot, depth: slot.depth + 1 };
  if (Array.isArray(prefixItems)) {
    const values = prefixItems.map((item) => listValues(isRecord(item) ? item : {}, inside, vocabulary)[0] ?? null);
    return [values];
  }
  const isOpen = items === undefined || (isRecord(items) && Object.keys(items).every((key) => key === 'type'));
  const described = isOpen ? findDescribedDocuments(slot.description).filter(Array.isArray) : [];
  const values = listValues(itemSchema, inside, vocabulary);
  const pick = (count: number, from: number) =>
    Array.from({ length: Math.min(count, most) }, (_, index) => values[(from + index) % values.length]);
  if (values.length === 0) return least === 0 ? [[]] : [];
  const lists = [pick(Math.max(1, least), 0), pick(Math.max(2, least), 0)];
  const singles = values.slice(1).map((_, index) => pick(Math.max(1, least), index + 1));
  return [...described, ...lists, ...singles, ...(least === 0 ? [[]] : [])].filter(
    (list) => list.length >= least && list.length <= most,
  );
}

function listNumbers(schema: JsonObject, slot: Slot, { learned, ofSession }: Vocabulary, isInteger: boolean): number[] {
  const type = isInteger ? 'integer' : 'number';
  const described = findDescribedValues(slot.description).map((text) => readAs(type, text));
  const known = (values: readonly LearnedValue[]) => findLearned(values, slot.name, slot.tool.name).map(Number);
  const row = findTypical(typicalNumbers, slot.name);
  const limits = readLimits(schema, isInteger);
  const values = [...known(ofSession), ...row, ...described, ...known(learned), 1, 2, 5, limits.least, limits.most, 0];
  const fitting = values.filter(
    (value): value is number => typeof value === 'number' && Number.isFinite(value) && limits.allows(value),
  );
  const { multipleOf: step } = schema;
  return fitting.length === 0 && typeof step === 'number' ? [step] : dropEqual(fitting);
}

/** The limits of a number in a schema. */
export function readLimits(
  { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf }: JsonObject,
  isInteger: boolean,
): { least: number; most: number; allows: (value: number) => boolean } {
  const unit = typeof multipleOf === 'number' && multipleOf > 0 ? multipleOf : 1;
  const above = typeof exclusiveMinimum === 'number' ? exclusiveMinimum + unit : -Infinity;
  const below = typeof exclusiveMaximum === 'number' ? exclusiveMaximum - unit : Infinity;
  const least = Math.max(typeof minimum === 'number' ? minimum : -Infinity, above);
  const most = Math.min(typeof maximum === 'number' ? maximum : Infinity, below);
  return {
    least,
    most,
    allows: (value) =>
      value >= least &&
      value <= most &&
      (!isInteger || Number.isInteger(value)) &&
      (typeof multipleOf !== 'number' || Number.isInteger(value / unit)),
  };
}

function listTexts(schema: JsonObject, slot: Slot, vocabulary: Vocabulary): string[] {
  const { learned, ofSession, resources } = vocabulary;
  const { format, pattern, minLength, maxLength } = schema;
  const name = splitName(slot.name).join(' ');
  const known = (values: readonly LearnedValue[]) => findLearned(values, slot.name, slot.tool.name).map(String);
  const { first: patterns, described } = rankDescribed(slot, vocabulary);
  const documents = findDescribedDocuments(slot.description).map((document) => JSON.stringify(document));
  const ofFormat = typeof format === 'string' ? (typicalFormats[format] ?? []) : [];
  const paths = takesPath(slot) ? listPaths(slot, vocabulary) : [];
  const role = findPathRole(slot);
  const isOther = role === null || role.isMade || role.isDirectory || isAboutMedia(slot.name);
  const made = isOther ? [] : (vocabulary.made ?? []);
  const uris = /\b(?:uri|resource)\b/.test(name) ? resources : [];
  // A listing that a call gave reads like a text, too.
  const ofFiles = isAboutFiles(slot.tool) ? listFirstLines(vocabulary.workspace) : [];
  const held = namesHeldText.test(name) ? [...listLines(ofSession), ...ofFiles, ...listLines(learned)] : [];
  const isRegex =
    namesOfPatterns.test(name) && namesRegex.test(`${slot.tool.name} ${slot.description} ${slot.tool.description}`);
  const isSql = namesStatement.test(name) && /\bSQL\b/.test(`${slot.description} ${slot.tool.description}`);
  const values = [
    ...(isSql
      ? [
          ...described.filter(isStatement),
          ...(vocabulary.workspace.files.includes(databaseFile) ? [sampleTable.read] : []),
          ...findTypical(typicalTexts, 'sql').map(String),
        ]
      : []),
    ...held,
    ...made,
    ...known(ofSession),
    ...patterns,
    ...ofFormat,
    ...paths,
    ...documents,
    ...described,
    ...listConverted(slot),
    ...uris,
    ...(namesNewThing(slot) ? [] : known(learned)),
    ...addFileOfRevision(
      findTypical(typicalTexts, isRegex ? 'regex' : slot.name).map(String),
      slot,
      vocabulary.workspace,
    ),
    'alpha',
    '1',
    'beta',
    ...known(learned),
  ];
  const least = typeof minLength === 'number' ? minLength : 0;
  const most = typeof maxLength === 'number' ? maxLength : Infinity;
  const expression = typeof pattern === 'string' ? tryExpression(pattern) : null;
  // The value of a reference is not known here, and the server made it.
  const fits = (text: string) =>
    readReference(text) !== null ||
    (text.length >= least && text.length <= most && (expression === null || expression.test(text)));
  const fitting = dropEqual(values).filter((text) => fits(text));
  if (fitting.length > 0) return fitting;
  const typical = [...Object.values(typicalFormats), ...typicalTexts.map((row) => row.values)].flat().map(String);
  const others = expression === null ? [] : dropEqual(typical.filter((text) => fits(text)));
  if (others.length > 0) return others;
  const stretched = 'alpha'.repeat(Math.ceil(Math.max(least, 1) / 5)).slice(0, Math.min(most, Math.max(least, 5)));
  return fits(stretched) ? [stretched] : [];
}

/** Lists what a conversion takes, from the first list of its description: words of two lists do not go together. */
function listConverted({ name, tool, depth }: Slot): string[] {
  const twins = depth === 0 ? findTwins(listParameters(tool.inputSchema)) : null;
  return twins?.some((each) => each.name === name) === true ? (findDescribedLists(tool.description)[0] ?? []) : [];
}

/** Names of texts that refer to another thing. */
const namesOfReferences = /\b(?:id|from|to|source|target|parent|path|uri|url)$/;

/** Names of texts that are a part of the thing that they describe. */
const namesOfParts = /^(?:name|title|label|content|text|body|description|type|kind|value)$/;

/** Checks if a text describes what a tool makes: the name of something that exists would make nothing new. */
export function namesNewThing({ name, tool }: Pick<Slot, 'name' | 'tool'>): boolean {
  const words = splitName(name);
  if (readVerb(tool.name) !== 'create' || namesOfReferences.test(words.join(' '))) return false;
  const things = new Set(readThing(tool.name));
  const isPart = words.length === 1 && namesOfParts.test(words[0] ?? '');
  return isPart || words.slice(-2).some((word) => things.has(word));
}

/** Names of what a search in files looks for: a pattern of names, or a word. */
const namesOfPatterns = /\b(?:pattern|glob|include|exclude|ignore)\b/;
const namesRegex = /(?:\b|_)reg(?:ular )?ex/i;
const namesOfExclusions = /\b(?:exclude|ignore)\b/;
export const namesOfSearches = /\b(?:query|search|term|keyword|q)\b/;

/** Languages of which a word is no query. */
const queryLanguages = /\b(?:sql|jq|json ?path|xpath|css selector)\b/i;

/**
 * Chooses what a search in the files of the workspace finds, and puts the examples of the description that find nothing last. A pattern
 * that leaves things out leaves others in.
 */
function rankDescribed(slot: Slot, { workspace }: Vocabulary): { first: string[]; described: string[] } {
  const described = findDescribedValues(slot.description);
  const name = splitName(slot.name).join(' ');
  const isPattern = namesOfPatterns.test(name);
  const about = `${slot.description} ${slot.tool.description}`;
  if (!(isPattern || namesOfSearches.test(name)) || !isAboutFiles(slot.tool) || workspace.files.length === 0) {
    return { first: [], described };
  }
  if (!isPattern || /\breg(?:ular )?ex/i.test(slot.description)) {
    const words = queryLanguages.test(about) ? [] : listWords(rankFiles(workspace), workspace.texts ?? new Map());
    return { first: words.slice(0, 2), described };
  }
  const leaves = namesOfExclusions.test(name);
  const isUseful = (pattern: string) => matchesSome(pattern, workspace.files, { leaves });
  const own = listPatterns(workspace).filter(isUseful);
  // A name leaves more than an ending does.
  const ranked = leaves ? [...own.filter((text) => !text.includes('*')), ...own] : own;
  return { first: [...described.filter(isUseful), ...ranked.slice(0, 3)], described };
}

/**
 * Leaves a directory out of a search that finds files in it and elsewhere: a pattern that matches names only does not show which paths an
 * exclusion leaves. A list gets two patterns, too, of which each leaves something out. Empty if the tool has no exclusion, or no directory has
 * such files.
 */
export function listExclusions(tool: ListedTool, files: readonly string[]): JsonObject[] {
  const parameters = isAboutFiles(tool) ? tool.parameters : [];
  const isNamed = (names: RegExp) => (parameter: { name: string }) =>
    names.test(splitName(parameter.name).join(' ').toLowerCase());
  const exclusion = parameters.find(isNamed(namesOfExclusions));
  if (exclusion === undefined || Array.isArray(exclusion.schema['enum'])) return [];
  const endings = (each: readonly string[]) => new Set(each.flatMap((file) => /\w(\.\w+)$/.exec(file)?.[1] ?? []));
  const visible = files.filter((file) => !/(?:^|\/)\./.test(file));
  const directories = [
    ...new Set(visible.flatMap((file) => (file.includes('/') ? file.slice(0, file.indexOf('/')) : []))),
  ];
  for (const directory of directories) {
    const isInside = (file: string) => file.startsWith(`${directory}/`);
    const others = endings(visible.filter((file) => !isInside(file)));
    const ending = [...endings(visible.filter(isInside))].find((each) => others.has(each));
    if (ending === undefined) continue;
    const pattern = `${directory}${belowDirectory}`;
    const search = parameters.find(
      (each) => each !== exclusion && readType(each.schema) === 'string' && isNamed(namesOfPatterns)(each),
    );
    const searched = search === undefined ? {} : { [search.name]: `**/*${ending}` };
    if (readType(exclusion.schema) !== 'array') return [{ ...searched, [exclusion.name]: pattern }];
    const other = visible.find((file) => !isInside(file) && file.endsWith(ending)) ?? '';
    const both = [pattern, `**/${other.slice(other.lastIndexOf('/') + 1)}`];
    return [[pattern], both].map((excluded) => ({ ...searched, [exclusion.name]: excluded }));
  }
  return [];
}

/** True for a tool that takes a path, or that has files in its name. */
function isAboutFiles({ name, inputSchema }: Slot['tool']): boolean {
  const names = [name, ...listProperties(inputSchema, inputSchema).map((property) => property.name)];
  return names.some((each) => pathNames.test(splitName(each).join(' ')));
}

/** Names of texts that are statements where a description speaks of SQL. */
const namesStatement = /\b(?:query|statement|script|command|code|sql)$/;

/** Names of texts that must be in what a call changes. */
export const namesHeldText = /\bold (?:text|str|string|content|value)\b/;

/** Names of texts that take the place of these. */
export const namesNewText = /\bnew (?:text|str|string|content|value)\b/;

/** The first lines of the files that a tool is called with first. */
function listFirstLines(workspace: Vocabulary['workspace']): string[] {
  return rankFiles(workspace)
    .slice(0, 2)
    .flatMap((file) => workspace.texts?.get(file)?.split(/\r?\n/)[0] ?? [])
    .filter((line) => line !== '');
}

/** The first line of each text that a call read or wrote. */
function listLines(values: readonly LearnedValue[]): string[] {
  return values
    .filter(({ words }) => /^(?:text|content)$/.test(words.at(-1) ?? ''))
    .map(({ value }) => String(value).split('\n')[0] ?? '')
    .filter((line) => line !== '');
}

/** Null for an expression that this engine does not know, or that is long enough to take long. */
function tryExpression(pattern: string): RegExp | null {
  if (pattern.length > 200) return null;
  try {
    return new RegExp(pattern, 'u');
  } catch {
    return null;
  }
}

function findTypical(table: typeof typicalTexts, slotName: string): readonly unknown[] {
  const words = splitName(slotName);
  // The last words name the kind of value: `entity name` is a name.
  const ends = [words.slice(-2).join(' '), words.at(-1) ?? '', words.join(' ')];
  for (const end of ends) {
    const row = table.find(({ name }) => name.test(end));
    if (row !== undefined) return row.values;
  }
  return [];
}

/** Names that are paths where the tool is about files. */
const endsOfMoves = /\b(?:source|destination|target|from|to|input|output|src|dest)$/;

function takesPath({ name, tool, description = '' }: Pick<Slot, 'name' | 'tool'> & { description?: string }): boolean {
  const words = splitName(name).join(' ');
  const isDatabase = /^(?:db|database)$/.test(words) && /\b(?:path|file)\b/i.test(description);
  return (
    isDatabase || pathNames.test(words) || (endsOfMoves.test(words) && pathNames.test(splitName(tool.name).join(' ')))
  );
}

/** Tools that show what a revision has. */
const showsRevision = /\b(?:show|view|read|get|cat|blob|object|file)\b/;

/** Adds a file of the last commit to the names of commits where a tool shows them; a file in which a change shows comes first. */
function addFileOfRevision(
  values: readonly string[],
  { tool }: Slot,
  workspace: Vocabulary['workspace'],
): readonly string[] {
  const [commit, ...others] = values;
  const [checkout] = workspace.checkouts ?? [];
  if (commit !== lastCommit || checkout === undefined || !showsRevision.test(splitName(tool.name).join(' ')))
    return values;
  const start = checkout === '.' ? '' : `${checkout}/`;
  const file = rankFiles(workspace).find((each) => each.startsWith(start));
  return file === undefined ? values : [commit, `${commit}:${file.slice(start.length)}`, ...others];
}

const isAboutMedia = (name: string) => /\b(?:media|image|picture|photo)\b/.test(splitName(name).join(' '));

/** Tools that add to a file make none, unless it is a file that they add. */
const changesFile = /^(?:add|insert|append|set|put) (?!file|document|directory|folder)/;

/** Names of directories in which a tool works, and which it does not make. */
const placesOfWork = /\b(?:repo|root|cwd|workdir)\b/;

/** Descriptions of such a place, where the name says `path` only. */
const describesPlace =
  /^\W*(?:(?:absolute|full|local|optional|the|an?) )*(?:path )?(?:to|of|for)? ?(?:(?:the|an?|your|local|git) )*(?:repository|repo|project|working directory)\b/i;

/** What a path of a tool names: a file or a directory, and whether the tool makes it; null for a parameter that takes no path. */
export function findPathRole(
  slot: Pick<Slot, 'name' | 'tool'> & { description?: string },
): { isDirectory: boolean; isMade: boolean } | null {
  if (!takesPath(slot)) return null;
  const words = splitName(slot.name).join(' ');
  const toolWords = splitName(slot.tool.name).join(' ');
  // A search looks below a directory, whatever it finds.
  const isDescribed = words === 'path' && describesPlace.test(slot.description ?? '');
  const isDirectory =
    isDescribed ||
    directoryNames.test(words) ||
    (!/\bfile\b/.test(words) && /\b(?:directory|dir|folder|tree)\b|^(?:search|find|grep|glob)\b/.test(toolWords));
  const isGiven = isDescribed || placesOfWork.test(words);
  const isMade =
    (readVerb(slot.tool.name) === 'create' && !isGiven && !changesFile.test(toolWords)) ||
    /^(?:destination|to|output|dest|target)|\b(?:destination|to|output|dest|target)$/.test(words);
  return { isDirectory, isMade };
}

/** Sorts the files of a workspace: those near its root, and of these the ones with several lines first, since others show little. */
export function rankFiles({ files, blank = [], texts = new Map() }: Vocabulary['workspace']): string[] {
  const lines = new Map(files.map((file) => [file, countLines(file, { blank, texts })]));
  return files
    .filter((file) => !file.startsWith('.'))
    .toSorted((a, b) => (lines.get(b) ?? 0) - (lines.get(a) ?? 0) || byDepth(a, b));
}

/** The kinds of files that a tool, or a parameter, names, with the endings of their names; the most common one first. */
const fileKinds: ReadonlyArray<{ words: RegExp; endings: readonly [string, ...string[]] }> = [
  { words: /\bpdfs?\b/i, endings: ['.pdf'] },
  { words: /\b(?:sqlite|db|database)\b/i, endings: ['.db', '.sqlite', '.sqlite3'] },
  { words: /\b(?:xlsx|excel|spreadsheets?|workbooks?)\b/i, endings: ['.xlsx'] },
  { words: /\bcsv\b/i, endings: ['.csv'] },
  { words: /\bjson\b/i, endings: ['.json'] },
];

function listEndings({ name, description, tool }: Slot): readonly string[] {
  const text = `${splitName(name).join(' ')} ${description} ${splitName(tool.name).join(' ')}`;
  return fileKinds.find(({ words }) => words.test(text))?.endings ?? [];
}

/** Lists paths in the workspace: those that exist first, unless the tool makes something there. */
function listPaths(slot: Slot, { workspace }: Vocabulary): string[] {
  const { isDirectory = false, isMade = false } = findPathRole(slot) ?? {};
  const isMedia = isAboutMedia(slot.name) || isAboutMedia(slot.tool.name);
  const media = workspace.files.filter((file) => /\.(?:png|jpe?g|gif|webp|svg)$/i.test(file));
  const ranked = rankFiles(workspace).filter((file) => !media.includes(file));
  const endings = listEndings(slot);
  const isOfKind = (file: string) => endings.some((ending) => file.toLowerCase().endsWith(ending));
  const wanted = isMedia ? media : ranked.filter(isOfKind);
  const files = [...new Set([...wanted, ...ranked, ...media])];
  const directories = ['.', ...workspace.directories.filter((path) => !path.startsWith('.'))];
  const fresh = isDirectory ? ['explored'] : [`explored${endings[0] ?? '.txt'}`];
  const present = isDirectory
    ? [...directories.slice(0, 3), ...files.slice(0, 1)]
    : [...files.slice(0, 3), ...directories.slice(0, 2)];
  const relative = isMade ? [...fresh, ...present] : [...present, ...fresh];
  // Many programs take absolute paths only.
  const toAbsolute = (path: string) => (path === '.' ? '{{workspace}}' : `{{workspace}}/${path}`);
  return [...relative.slice(0, 2), ...relative.map(toAbsolute), ...relative.slice(2)];
}

function dropEqual<Value>(values: readonly Value[]): Value[] {
  const seen = new Set<string>();
  return values.filter((value) => {
    const key = JSON.stringify(value) ?? '';
    return !seen.has(key) && seen.add(key);
  });
}
