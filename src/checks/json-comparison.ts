import { isRecord } from '../base/json.ts';

/** The rules for comparing two JSON documents. */
export interface ComparisonRules {
  /** The largest difference between two equal numbers, at every depth. */
  tolerance?: number;
  /** True if the order of arrays does not matter, at every depth. */
  unordered?: boolean;
  /** True if the actual objects may have more members, at every depth. */
  partial?: boolean;
}

/**
 * Limits the comparisons of two values; larger documents are not compared. A server determines the length of its lists, and comparing two
 * lists in any order takes up to the product of their lengths. A reversed list of 4,000 items stays below the limit.
 */
const maxSteps = 10_000_000;

/** Compares two JSON documents. Ignores the order of keys, and converts no types. Results are invalid once `isExhausted` is true. */
export class JsonComparison {
  readonly isUnordered: boolean;
  readonly isPartial: boolean;
  readonly #tolerance: number;
  #steps = 0;

  constructor({ tolerance = 0, unordered = false, partial = false }: ComparisonRules) {
    this.#tolerance = tolerance;
    this.isPartial = partial;
    this.isUnordered = unordered;
  }

  get isExhausted(): boolean {
    return this.#steps > maxSteps;
  }

  isEqual(expected: unknown, actual: unknown): boolean {
    this.#steps += 1;
    if (this.isExhausted) return false;
    if (expected === actual) return true;
    if (typeof expected === 'number' && typeof actual === 'number') return this.#isClose(expected, actual);
    if (Array.isArray(expected)) {
      if (!Array.isArray(actual) || expected.length !== actual.length) return false;
      return this.isUnordered
        ? this.pair(expected, actual).missing.length === 0
        : expected.every((item, index) => this.isEqual(item, actual[index]));
    }
    if (!isRecord(expected) || !isRecord(actual)) return false;
    const keys = Object.keys(expected);
    return (
      (this.isPartial || keys.length === Object.keys(actual).length) &&
      keys.every((key) => Object.hasOwn(actual, key) && this.isEqual(expected[key], actual[key]))
    );
  }

  /** Pairs as many items of two lists as possible, and returns the unpaired ones. */
  pair(expected: readonly unknown[], actual: readonly unknown[]): { missing: unknown[]; extra: unknown[] } {
    const pairs: Pairs = { ofExpected: new Map(), ofActual: new Map() };
    const missing = expected.filter((_, index) => !this.#findPartner(index, { expected, actual, pairs }));
    return { missing, extra: actual.filter((_, index) => !pairs.ofActual.has(index)) };
  }

  /** With a tolerance, an item may match several others. Changes earlier pairs if that frees a match (Berge's augmenting path). */
  #findPartner(
    start: number,
    { expected, actual, pairs }: { expected: readonly unknown[]; actual: readonly unknown[]; pairs: Pairs },
  ): boolean {
    const reachedFrom = new Map<number, number>();
    const open = [start];
    for (let item = open.shift(); item !== undefined; item = open.shift()) {
      for (const [candidate, value] of actual.entries()) {
        if (reachedFrom.has(candidate) || !this.isEqual(expected[item], value)) continue;
        reachedFrom.set(candidate, item);
        const holder = pairs.ofActual.get(candidate);
        if (holder === undefined) {
          changePairs(candidate, reachedFrom, pairs);
          return true;
        }
        open.push(holder);
      }
    }
    return false;
  }

  /** Allows for rounding: 3.15 is within 0.01 of 3.14, although the difference of the two doubles is slightly larger. */
  #isClose(expected: number, actual: number): boolean {
    const rounding = this.#tolerance === 0 ? 0 : 4 * Number.EPSILON * Math.max(Math.abs(expected), Math.abs(actual));
    return Math.abs(expected - actual) <= this.#tolerance + rounding;
  }
}

/** Checks if `partial` leaves a document something to say about each of its objects: it has objects, and none is empty. */
export function canBePartial(value: unknown): boolean {
  const objects = [...listObjects(value)];
  return objects.length > 0 && objects.every((object) => Object.keys(object).length > 0);
}

function* listObjects(value: unknown): Generator<object> {
  if (isRecord(value)) yield value;
  if (typeof value === 'object' && value !== null)
    for (const member of Object.values(value)) yield* listObjects(member);
}

/** The paired items, by index, in both directions. */
interface Pairs {
  ofExpected: Map<number, number>;
  ofActual: Map<number, number>;
}

/** Pairs the free item with the item that reached it. Passes the former partner of that item on in the same way, along the path. */
function changePairs(free: number, reachedFrom: ReadonlyMap<number, number>, { ofExpected, ofActual }: Pairs): void {
  for (let given: number | undefined = free; given !== undefined;) {
    const taker = reachedFrom.get(given);
    if (taker === undefined) return;
    const former = ofExpected.get(taker);
    ofExpected.set(taker, given);
    ofActual.set(given, taker);
    given = former;
  }
}
