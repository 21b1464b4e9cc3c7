import type { JournalEntry } from './journal.ts';

/** A part of a file that is no message: its document, counted from 0, its path there, and what was expected. */
export interface ExportProblem {
  document: number;
  path: readonly PropertyKey[];
  expected: string;
}

/** A format in which another program exports the calls of a session. */
export interface ExportKind {
  /** What a file of this kind has, for people. */
  expected: string;
  isKind: (document: unknown) => boolean;
  /** Reads the messages of all documents of a file, which has one, or one a line. */
  read: (documents: readonly unknown[]) => readonly JournalEntry[] | ExportProblem;
}
