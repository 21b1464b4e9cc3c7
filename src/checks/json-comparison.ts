import { isRecord } from '../base/json.ts';

/** How two JSON documents are compared. */
export interface ComparisonRules {
  /** By how much two numbers may differ, at every depth. */
  tolerance?: number;
  /** Whether arrays are equal in any order, at every depth. */
  unordered?: boolean;
}

/**
 * Comparisons of two values, above which documents are not compared. A server decides how long its lists are, and lists
 * in any order take the product of their lengths. A list of 4,000 items in the opposite order stays below it.
 */
const maxSteps = 10_000_000;

/**
 * Compares the parts of two JSON documents: key order is free, and nothing is coerced. Once `isExhausted`, the answers mean nothing.
 */
export class JsonComparison {
  readonly isUnordered: boolean;
  readonly #tolerance: number;
  #steps = 0;

  constructor({ tolerance = 0, unordered = false }: ComparisonRules) {
    this.#tolerance = tolerance;
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
      keys.length === Object.keys(actual).length &&
      keys.every((key) => Object.hasOwn(actual, key) && this.isEqual(expected[key], actual[key]))
    );
  }

  /** Pairs as many items of two lists as can be paired at once, and returns the others. */
  pair(expected: readonly unknown[], actual: readonly unknown[]): { missing: unknown[]; extra: unknown[] } {
    const pairs: Pairs = { ofExpected: new Map(), ofActual: new Map() };
    const missing = expected.filter((_, index) => !this.#findPartner(index, { expected, actual, pairs }));
    return { missing, extra: actual.filter((_, index) => !pairs.ofActual.has(index)) };
  }

  /** With a tolerance, an item may fit several others; earlier pairs are changed where that helps (Berge's augmenting path). */
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

  /** 3.15 is within 0.01 of 3.14, although the difference of the two doubles is a little more. */
  #isClose(expected: number, actual: number): boolean {
    const rounding = this.#tolerance === 0 ? 0 : 4 * Number.EPSILON * Math.max(Math.abs(expected), Math.abs(actual));
    return Math.abs(expected - actual) <= this.#tolerance + rounding;
  }
}

/** The partners of items, by index, in both directions. */
interface Pairs {
  ofExpected: Map<number, number>;
  ofActual: Map<number, number>;
}

/** Gives a free item to the one that it was reached from, whose former partner goes to the one that that was reached from, and so on. */
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
