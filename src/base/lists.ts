/**
 * Adds items to the end of a list. `push(...items)` passes every item on the stack, which overflows above some 100,000 items; files and
 * services decide how many there are.
 */
export function appendAll<T>(list: T[], items: Iterable<T>): void {
  for (const item of items) list.push(item);
}

/** Finds the smallest of any number of numbers; `Infinity` if there are none. */
export function findSmallest(numbers: Iterable<number>): number {
  let smallest = Infinity;
  for (const number of numbers) smallest = Math.min(smallest, number);
  return smallest;
}

/** Finds the greatest of any number of numbers; `-Infinity` if there are none. */
export function findGreatest(numbers: Iterable<number>): number {
  let greatest = -Infinity;
  for (const number of numbers) greatest = Math.max(greatest, number);
  return greatest;
}

/** Keeps the first item of each name. */
export function firstOfEach<T>(items: readonly T[], nameOf: (item: T) => string): T[] {
  const seen = new Set<string>();
  return items.filter((item) => {
    const isFirst = !seen.has(nameOf(item));
    seen.add(nameOf(item));
    return isFirst;
  });
}
