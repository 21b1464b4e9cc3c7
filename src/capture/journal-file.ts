import { closeSync, mkdirSync, openSync, readdirSync, renameSync, rmSync, writeSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describeError } from '../base/errors.ts';
import { getOwnPid, isProcessAlive } from '../server/process-tree.ts';
import { type JournalEntry, type JournalHead, printEntry } from './journal.ts';

/** The file of a journal. Only the owner may read it. */
export interface JournalFile {
  readonly path: string;
  /** Appends an entry. A failed write is reported once; the entry stays in memory then. */
  append(entry: JournalEntry): void;
  /** The entries that could not be written. */
  readonly unwritten: readonly JournalEntry[];
  remove(): void;
}

const ending = '.journal';

/** Names the journal of this process next to the evals file. */
function nameJournal(out: string): string {
  return `${out}.${getOwnPid()}-${Date.now().toString(36)}${ending}`;
}

/** Makes a journal. If it cannot be written, `onFailure` gets the reason once, and all entries stay in memory. */
export function openJournal(out: string, head: JournalHead, onFailure: (reason: string) => void): JournalFile {
  const path = nameJournal(out);
  const unwritten: JournalEntry[] = [];
  let file: number | null = null;
  const attempt = (action: () => void): boolean => {
    try {
      action();
      return true;
    } catch (error) {
      if (file !== null) closeSync(file);
      file = null;
      onFailure(describeError(error));
      return false;
    }
  };
  const write = (text: string) => {
    if (file === null) return;
    const bytes = Buffer.from(text);
    // A disk that becomes full takes a part of the bytes first.
    for (let from = 0; from < bytes.length;) from += writeSync(file, bytes, from);
  };
  attempt(() => {
    mkdirSync(dirname(out), { recursive: true });
    file = openSync(path, 'ax', 0o600);
    write(printEntry(head));
  });
  return {
    path,
    append: (entry) => {
      if (file === null || !attempt(() => write(printEntry(entry)))) unwritten.push(entry);
    },
    unwritten,
    remove: () => {
      if (file !== null) closeSync(file);
      file = null;
      rmSync(path, { force: true });
    },
  };
}

/**
 * Takes over the journals next to an evals file whose recorder was killed: each gets a name of this process, so that no other process
 * converts it, too.
 */
export function claimJournals(out: string): string[] {
  const prefix = `${basename(out)}.`;
  return listNames(dirname(out)).flatMap((name) => {
    if (!name.startsWith(prefix) || !name.endsWith(ending)) return [];
    const pid = Number.parseInt(name.slice(prefix.length), 10);
    if (!Number.isInteger(pid) || isProcessAlive(pid)) return [];
    const claimed = join(dirname(out), `${prefix}${getOwnPid()}${name.slice(prefix.length + String(pid).length)}`);
    try {
      renameSync(join(dirname(out), name), claimed);
      return [claimed];
    } catch {
      // Another process was faster.
      return [];
    }
  });
}

function listNames(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
