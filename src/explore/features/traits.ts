import { isJsonEqual, isRecord, listTexts } from '../../base/json.ts';
import {
  belowDirectory,
  largeNumber,
  lastCommit,
  manyLines,
  otherIndent,
  specialText,
  unknownValues,
} from '../vocabulary/typical-values.ts';

/** What a value has that others of its parameter do not have. */
interface TraitKind {
  has: (value: unknown) => boolean;
  /** Says it in a title; null if the value itself does. */
  words: string | null;
  /** False if it changes little. */
  isTelling: boolean;
}

const isMissing = (text: unknown) =>
  typeof text === 'string' && (text === unknownValues.text || text.split('/').at(-1) === unknownValues.path);

const hasLines = (value: unknown, lines: RegExp) => [...listTexts(value)].some(({ text }) => lines.test(text));

const isDirectory = (value: unknown) => typeof value === 'string' && value.endsWith(belowDirectory);

/** Checks if a value is a list of several things. More members alone do not make another thing. */
function hasSeveral(value: unknown): boolean {
  if (!Array.isArray(value)) return false;
  const [first, ...others]: unknown[] = value;
  return others.some((item) =>
    isRecord(item) && isRecord(first)
      ? Object.keys(item).some((name) => Object.hasOwn(first, name) && !isJsonEqual(item[name], first[name]))
      : !isJsonEqual(item, first),
  );
}

/** The name of what a value has that others of its parameter do not have. */
export type Trait =
  | 'special'
  | 'partly missing'
  | 'more than there is'
  | 'many'
  | 'empty'
  | 'directory'
  | 'file of a commit'
  | 'other white space'
  | 'several lines'
  | 'below a missing directory'
  | 'several items';

/** The first that a value has counts. */
const traits: Readonly<Record<Trait, TraitKind>> = {
  special: {
    // Also within a document in JSON.
    has: (value) =>
      [...listTexts(value)].some(({ text }) => text === specialText || text.includes(JSON.stringify(specialText))),
    words: 'with special characters',
    isTelling: true,
  },
  'partly missing': {
    has: (value) => Array.isArray(value) && value.some(isMissing) && !value.every(isMissing),
    words: 'of which one is missing',
    isTelling: true,
  },
  'more than there is': { has: (value) => value === largeNumber, words: null, isTelling: false },
  many: { has: (value) => value === manyLines, words: null, isTelling: false },
  empty: { has: (value) => value === '', words: null, isTelling: true },
  directory: {
    has: (value) => isDirectory(value) || (Array.isArray(value) && value.length === 1 && isDirectory(value[0])),
    words: 'of a directory',
    isTelling: true,
  },
  'file of a commit': {
    has: (value) => typeof value === 'string' && value.startsWith(`${lastCommit}:`),
    words: null,
    isTelling: true,
  },
  'other white space': {
    has: (value) => hasLines(value, new RegExp(`^${otherIndent}.*\n${otherIndent}`)),
    words: 'with other white space',
    isTelling: true,
  },
  'several lines': { has: (value) => hasLines(value, /\S\n+\s*\S/), words: 'of several lines', isTelling: true },
  'below a missing directory': {
    has: (value) => typeof value === 'string' && value.split('/').slice(0, -1).includes(unknownValues.directory),
    words: null,
    isTelling: true,
  },
  'several items': { has: hasSeveral, words: 'of several items', isTelling: true },
};

const isTrait = (name: string): name is Trait => Object.hasOwn(traits, name);

/** Returns null for a value like others. */
export function findTrait(value: unknown): Trait | null {
  const names = Object.keys(traits).filter(isTrait);
  return names.find((name) => traits[name].has(value)) ?? null;
}

/** Returns the words for a title, and whether the trait is telling. */
export const describeTrait = (trait: Trait): Pick<TraitKind, 'words' | 'isTelling'> => traits[trait];
