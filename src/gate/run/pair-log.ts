import { findGreatest } from '../../base/lists.ts';
import { createRandom } from '../../base/random.ts';
import type { BaseResults } from '../../model/base-comparison.ts';
import type { CaseOutline } from '../../model/results.ts';
import { type EvidenceCollector, extendEvidence } from './evidence-log.ts';

type Side = 'base' | 'head';

/** The results of both sides' iterations, by case and number. */
export interface PairLog {
  /** Returns a collector that also notes the result of every iteration of a side, in addition to what `within` collects. */
  watch(side: Side, within: EvidenceCollector): EvidenceCollector;
  /** Adds known results of the base; returns false if those of some rounds are missing. */
  addCached(caseId: string, from: { cached: string; numbers: readonly number[] }): boolean;
  /** Called when all rounds of the plan have run: later rounds only confirm. */
  endOwnRounds(): void;
  /** Returns the number of the first iteration that neither side has run. */
  next(caseId: string): number;
  list(cases: readonly Pick<CaseOutline, 'id'>[]): BaseResults['cases'];
}

export function createPairLog(): PairLog {
  const sides: Record<Side, Map<string, Map<number, string>>> = { base: new Map(), head: new Map() };
  const cached = new Map<string, number>();
  const ownRounds = new Map<string, number>();
  const open = (side: Side, caseId: string) => {
    const found = sides[side].get(caseId) ?? new Map<number, string>();
    sides[side].set(caseId, found);
    return found;
  };
  const countRounds = (caseId: string) =>
    Math.max(0, findGreatest([...open('base', caseId).keys(), ...open('head', caseId).keys()]));
  return {
    watch: (side, within) =>
      extendEvidence(within, {
        addIteration: (_suiteId, { iterationNumber: number }, { caseId, outcome }) => {
          if (number !== null) open(side, caseId).set(number, outcome === 'unscored' ? '-' : outcome.charAt(0));
        },
      }),
    addCached: (caseId, from) => {
      const marks = from.numbers.map((number) => from.cached[number - 1]);
      if (marks.includes(undefined)) return false;
      for (const number of from.numbers) open('base', caseId).set(number, from.cached[number - 1] ?? '-');
      cached.set(caseId, (cached.get(caseId) ?? 0) + from.numbers.length);
      return true;
    },
    endOwnRounds: () => {
      for (const id of [...sides.base.keys(), ...sides.head.keys()]) ownRounds.set(id, countRounds(id));
    },
    next: (caseId) => countRounds(caseId) + 1,
    list: (cases) =>
      cases.map(({ id }) => {
        const rounds = countRounds(id);
        const numbers = countTo(rounds);
        const read = (side: Side) => numbers.map((number) => open(side, id).get(number) ?? '-').join('');
        return {
          id,
          base: read('base'),
          head: read('head'),
          cached: cached.get(id) ?? 0,
          confirming: rounds - (ownRounds.get(id) ?? rounds),
        };
      }),
  };
}

/** Lists the numbers from 1 to `count`. */
export function countTo(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index + 1);
}

/** Opens a coin. The seed, an integer of 32 bits, decides its throws. */
export function openCoin(seed: number): () => boolean {
  const random = createRandom(seed);
  return () => random() >= 0.5;
}
