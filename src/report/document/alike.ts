import { joinLines, type Line } from './block.ts';

/** Items that say the same of several tools: the one that is shown, and the others. */
export interface Alike<T> {
  first: T;
  others: readonly T[];
}

/** Puts items with the same key together, where the first one stands. */
export function groupAlike<T>(items: readonly T[], writeKey: (item: T) => string): Array<Alike<T>> {
  return [...Map.groupBy(items, writeKey).values()].flatMap(([first, ...others]) =>
    first === undefined ? [] : [{ first, others }],
  );
}

/** The most that are named; report.json has all. */
const maxNames = 12;

/** Names the items that say the same as another one; empty if there are none. */
export function describeAlike(names: readonly Line[]): Line {
  if (names.length === 0) return [];
  const shown = names.length > maxNames + 1 ? names.slice(0, maxNames) : names;
  return [
    `The same for ${names.length === 1 ? '' : `${names.length} more: `}`,
    ...joinLines(shown, ', '),
    shown.length < names.length ? ` and ${names.length - shown.length} others.` : '.',
  ];
}
