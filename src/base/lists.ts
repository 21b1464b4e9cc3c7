/**
 * Adds items to the end of a list. `push(...items)` passes every item on the stack, which overflows beyond some 100,000 of them; files and
 * services decide how many there are.
 */
export function appendAll<T>(list: T[], items: Iterable<T>): void {
  for (const item of items) list.push(item);
}

/** The smallest number, of as many as there are; `Infinity` of none. */
export function findSmallest(numbers: Iterable<number>): number {
  let smallest = Infinity;
  for (const number of numbers) smallest = Math.min(smallest, number);
  return smallest;
}

/** The greatest number, of as many as there are; `-Infinity` of none. */
export function findGreatest(numbers: Iterable<number>): number {
  let greatest = -Infinity;
  for (const number of numbers) greatest = Math.max(greatest, number);
  return greatest;
}
