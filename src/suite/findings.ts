import { closestMatch } from 'leven';
import type { ConfigurationIssue } from '../base/errors.ts';

/** A mistake in an evals file; it always has a location. */
export interface Finding extends ConfigurationIssue {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** Puts findings in the order in which a reader meets them. */
export function sortFindings(findings: readonly Finding[]): Finding[] {
  return findings.toSorted(
    (a, b) =>
      a.line - b.line || a.column - b.column || compareText(a.code, b.code) || compareText(a.message, b.message),
  );
}

/** Orders by code unit, so that the result does not depend on the machine's locale. */
export function compareText(a: string, b: string): number {
  return Number(a > b) - Number(a < b);
}

/**
 * Completes a message about an unknown word: suggests the nearest known word, or lists them if none is near. Begins
 * with a semicolon; empty if nothing is known.
 */
export function suggestNearest(word: string, known: readonly string[]): string {
  if (known.length === 0) return '';
  const nearest = findNearest(word, known);
  if (nearest !== undefined) return `; did you mean \`${nearest}\`?`;
  const listed = known.slice(0, longestList).map((name) => `\`${name}\``);
  const more = known.length - listed.length;
  return `; known here: ${listed.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** The names that a message lists. */
const longestList = 40;

/** Finds the known word that is nearest to an unknown one; undefined if none is near. */
export function findNearest(word: string, known: readonly string[]): string | undefined {
  // Allows a distance of 2 in short words too, because that is the distance of a transposition.
  const maxDistance = Math.max(Math.ceil(word.length / 3), Math.min(Math.ceil(word.length / 2), 2));
  // Of two words that are as near, the one that begins with it is meant.
  const ordered = known.toSorted((a, b) => Number(b.startsWith(word)) - Number(a.startsWith(word)));
  return closestMatch(word.slice(0, 100), ordered, { maxDistance });
}
