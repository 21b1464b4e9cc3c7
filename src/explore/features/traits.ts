import { listTexts } from '../../base/json.ts';
import { belowDirectory, largeNumber, lastCommit, specialText, unknownValues } from '../vocabulary/typical-values.ts';

/** What a value has that others of its parameter do not have. */
interface TraitKind {
  name: string;
  has: (value: unknown) => boolean;
  /** Says it in a title; null if the value itself does. */
  words: string | null;
  /** False if it changes little. */
  isTelling: boolean;
}

const isMissing = (text: unknown) =>
  typeof text === 'string' && (text === unknownValues.text || text.split('/').at(-1) === unknownValues.path);

const isDirectory = (value: unknown) => typeof value === 'string' && value.endsWith(belowDirectory);

/** The first that a value has counts. */
const traits = [
  {
    name: 'special',
    has: (value) => [...listTexts(value)].some(({ text }) => text === specialText),
    words: 'with special characters',
    isTelling: true,
  },
  {
    name: 'partly missing',
    has: (value) => Array.isArray(value) && value.some(isMissing) && !value.every(isMissing),
    words: 'of which one is missing',
    isTelling: true,
  },
  { name: 'more than there is', has: (value) => value === largeNumber, words: null, isTelling: false },
  { name: 'empty', has: (value) => value === '', words: null, isTelling: true },
  {
    name: 'directory',
    has: (value) => isDirectory(value) || (Array.isArray(value) && value.length === 1 && isDirectory(value[0])),
    words: 'of a directory',
    isTelling: true,
  },
  {
    name: 'file of a commit',
    has: (value) => typeof value === 'string' && value.startsWith(`${lastCommit}:`),
    words: null,
    isTelling: true,
  },
  {
    name: 'below a missing directory',
    has: (value) => typeof value === 'string' && value.split('/').slice(0, -1).includes(unknownValues.directory),
    words: null,
    isTelling: true,
  },
] as const satisfies readonly TraitKind[];

/** The name of what a value has that others of its parameter do not have. */
export type Trait = (typeof traits)[number]['name'];

/** Returns null for a value like others. */
export function findTrait(value: unknown): Trait | null {
  return traits.find(({ has }) => has(value))?.name ?? null;
}

/** Returns the words for a title, and whether the trait is telling. */
export function describeTrait(trait: Trait): Pick<TraitKind, 'words' | 'isTelling'> {
  return traits.find(({ name }) => name === trait) ?? { words: null, isTelling: true };
}
