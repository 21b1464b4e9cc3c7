/** Prints a count with its noun, `1 case` or `3 cases`; for nouns that take an s. */
export function formatCount(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
