import { createHash } from 'node:crypto';

/**
 * The record of the suite and the cases that `sync` created. The API has no field for it, so it is the last line of the suite's description,
 * after the text that people wrote.
 */
export interface Ledger {
  /** The id of the suite in the evals file. */
  suiteId: string;
  /** Marks of the cases that `sync` created, by `markCase`. */
  marks: ReadonlySet<string>;
}

const line =
  /(?:^|\n)\[mcp-eval-ci sync 1: suite ([A-Za-z0-9_-]{1,128}); cases((?: [A-Za-z0-9_-]{10})*); do not edit\]$/;

/** Splits a description into the text that people wrote and the ledger; null if there is no ledger. */
export function readLedger(description: string | null): { text: string; ledger: Ledger | null } {
  const match = line.exec(description ?? '');
  if (match === null) return { text: description ?? '', ledger: null };
  const [, suiteId = '', marks = ''] = match;
  return {
    text: (description ?? '').slice(0, match.index),
    ledger: { suiteId, marks: new Set(marks.split(' ').filter((mark) => mark !== '')) },
  };
}

export function writeLedger(text: string, { suiteId, marks }: Ledger): string {
  const cases = [...marks].toSorted().map((mark) => ` ${mark}`);
  const written = `[mcp-eval-ci sync 1: suite ${suiteId}; cases${cases.join('')}; do not edit]`;
  return text === '' ? written : `${text}\n${written}`;
}

/** Shortens an id, which may have 128 characters, to ten, because a description must have room for all ids. */
export function markCase(declaredId: string): string {
  return createHash('sha256').update(declaredId).digest('base64url').slice(0, 10);
}
