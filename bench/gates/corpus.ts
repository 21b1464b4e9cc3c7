// Reads the bugs and the sound changes of the benchmark, each a small file that a person wrote or an operator drew.
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Call } from './session.ts';

/** The classes of bugs; docs/benchmark.md says which published taxonomy names each. */
export const classes = [
  'condition',
  'boundary',
  'default',
  'await',
  'field',
  'error-flag',
  'order',
  'text',
  'annotation',
  'description',
  'schema',
  'state',
  'filter',
  'path',
  'protocol',
  'latency',
  'chance',
] as const;
export type BugClass = (typeof classes)[number];

/** How a proof shows a difference: in an answer, in what a host shows, in time, or in some of 30 answers. */
export type ProofKind = 'answer' | 'shown' | 'latency' | 'chance';

/** A replacement of one text of a server's own files. */
export interface Patch {
  server: string;
  /** The name of its file, without the extension. */
  id: string;
  /** Below the server's own directory. */
  file: string;
  search: string;
  replacement: string;
}

export interface Bug extends Patch {
  kind: 'bug';
  class: BugClass;
  /** What a user notices. */
  notice: string;
  /** `authored`, `mined`, or `operator <name>`. */
  origin: string;
  /** The fix or the issue that a mined bug re-makes. */
  reference: string | null;
  proof: { kind: ProofKind; calls: readonly Call[] };
}

export interface SoundChange extends Patch {
  /** Only a reader of the code notices a silent one; a meant one changes answers or what a host shows, on purpose. */
  kind: 'silent' | 'meant';
  /** What changed. */
  notice: string;
  /** Where a meant one shows, in addition to what a host shows. */
  proof: { calls: readonly Call[] };
}

export type Change = Bug | SoundChange;

/** One line: the file, what is wrong with it, and what to do. */
export interface Refusal {
  file: string;
  reason: string;
  remedy: string;
}

export function formatRefusal({ file, reason, remedy }: Refusal): string {
  return `${file}: ${reason}. ${remedy}.`;
}

interface Read<T> {
  changes: T[];
  refusals: Refusal[];
}

/** Reads `bugs/<server>/*.json` below a directory, in the order of their names; a file that is none is refused, and the others are read. */
export async function readBugs(root: string, server: string): Promise<Read<Bug>> {
  return await readChanges(root, `bugs/${server}`, (content, patch) => {
    const { class: named, notice, origin, proof } = content;
    if (!classes.some((known) => known === named)) return `its class is none of ${classes.join(', ')}`;
    const { kind, calls } = (proof ?? {}) as { kind?: unknown; calls?: unknown };
    if (kind !== 'answer' && kind !== 'shown' && kind !== 'latency' && kind !== 'chance') {
      return 'its proof is none of answer, shown, latency and chance';
    }
    if (kind !== 'shown' && (!Array.isArray(calls) || calls.length === 0)) return 'its proof makes no calls';
    const reference = typeof content['reference'] === 'string' ? content['reference'] : null;
    if ((origin === 'mined') !== (reference !== null)) return 'a mined bug has a reference, and no other has one';
    return {
      ...patch,
      kind: 'bug',
      class: named as BugClass,
      notice: String(notice),
      origin: String(origin),
      reference,
      proof: { kind, calls: (calls ?? []) as Call[] },
    };
  });
}

/** Reads `sound/<server>/*.json` likewise. */
export async function readSound(root: string, server: string): Promise<Read<SoundChange>> {
  return await readChanges(root, `sound/${server}`, (content, patch) => {
    const { kind, notice, proof } = content;
    if (kind !== 'silent' && kind !== 'meant') return 'its kind is neither silent nor meant';
    return {
      ...patch,
      kind,
      notice: String(notice),
      proof: { calls: (proof as { calls?: Call[] } | undefined)?.calls ?? [] },
    };
  });
}

async function readChanges<T>(
  root: string,
  directory: string,
  build: (content: Record<string, unknown>, patch: Patch) => T | string,
): Promise<Read<T>> {
  const [, server = ''] = directory.split('/');
  const names = await readdir(join(root, directory)).catch(() => []);
  const changes: T[] = [];
  const refusals: Refusal[] = [];
  for (const name of names.filter((each) => each.endsWith('.json')).toSorted()) {
    const file = `${directory}/${name}`;
    const built = parse(await readFile(join(root, file), 'utf8'), (content) => {
      const { file: path, search, replacement } = content;
      if (typeof path !== 'string' || typeof search !== 'string' || typeof replacement !== 'string') {
        return 'file, search and replacement are not all texts';
      }
      if (typeof content['notice'] !== 'string') return 'it does not say what a user notices';
      return build(content, { server, id: basename(name, '.json'), file: path, search, replacement });
    });
    if (typeof built === 'string') refusals.push({ file, reason: built, remedy: 'Correct the file' });
    else changes.push(built);
  }
  return { changes, refusals };
}

function parse<T>(text: string, build: (content: Record<string, unknown>) => T | string): T | string {
  try {
    const content: unknown = JSON.parse(text);
    if (typeof content !== 'object' || content === null) return 'it is no object';
    return build(content as Record<string, unknown>);
  } catch (error) {
    return `it is no JSON: ${String(error)}`;
  }
}

/** The same for one file, search text and replacement, whatever an author calls them. */
export function hashPatch({ file, search, replacement }: Pick<Patch, 'file' | 'search' | 'replacement'>): string {
  return createHash('sha256')
    .update(JSON.stringify([file, search, replacement]))
    .digest('hex')
    .slice(0, 16);
}

/** Development is for people who improve a gate; only totals of the other half are printed. */
export function findHalf(patch: Pick<Patch, 'file' | 'search' | 'replacement'>): 'development' | 'measured' {
  return Number.parseInt(hashPatch(patch).slice(-1), 16) % 2 === 0 ? 'development' : 'measured';
}

/** Replaces the search text, which must occur exactly once. */
export function applyPatch(source: string, { search, replacement }: Patch): { source: string } | { reason: string } {
  const parts = source.split(search);
  if (parts.length !== 2) return { reason: `its search text occurs ${parts.length - 1} times in the file` };
  return { source: parts.join(replacement) };
}
