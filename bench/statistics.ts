// Simulates how often the decisions about a pass rate are wrong, and how many iterations they need, with the product's own functions. The same
// seed gives the same figures. They go into bench/statistics.json, from which `npm run docs` makes the tables of docs/policy.md.
import { writeFile } from 'node:fs/promises';
import { computeClusteredInterval } from '../lib/verdict/statistics/clustered.js';
import { type ErrorRates, splitConfidence } from '../lib/verdict/statistics/errors.js';
import { countFixedDesign } from '../lib/verdict/statistics/fixed-design.js';
import {
  decideRate,
  decideRateByRounds,
  isWorse,
  isWorseByRounds,
  type RoundTally,
  type SequentialDecision,
} from '../lib/verdict/statistics/sequential.js';
import { createRandom } from '../lib/base/random.js';
import type { Shared, Statistics } from './statistics-figures.ts';

const suitesPerCell = 10_000;
const confidence = 0.95;
const cases = 20;
const maxRounds = 50;
/** Each part starts a new sequence, so that its figures do not depend on the parts before. */
let random = createRandom(0);

/** Simulates every cell and writes the figures. */
export async function measureStatistics(): Promise<void> {
  const figures: Statistics = {
    suites: suitesPerCell,
    fixed: simulateFixed(),
    distances: simulateDistances(),
    shared: simulateShared(),
    families: simulateFamilies(),
    sides: simulateSides(),
  };
  await writeFile(new URL('statistics.json', import.meta.url), `${JSON.stringify(figures, null, 2)}\n`);
  console.log(JSON.stringify(figures));
}

/**
 * Finds for each number of iterations how many passes the product needs to pass a suite, and with how many it fails the suite. For a fixed
 * number of iterations, more passes never count against the suite.
 */
function openBounds(minimum: number, errors: ErrorRates) {
  const known: Array<{ least: number; most: number } | undefined> = [];
  const find = (total: number) => {
    const search = (isBeyond: (passed: number) => boolean): number => {
      let [low, high] = [0, total + 1];
      while (low < high) {
        const middle = Math.floor((low + high) / 2);
        if (isBeyond(middle)) high = middle;
        else low = middle + 1;
      }
      return low;
    };
    const decide = (passed: number) => decideRate({ passed, failed: total - passed }, { minimum, errors });
    return {
      least: search((passed) => passed > total || decide(passed) === 'passed'),
      most: search((passed) => passed > total || decide(passed) !== 'failed') - 1,
    };
  };
  return (passed: number, total: number): SequentialDecision => {
    const { least, most } = (known[total] ??= find(total));
    return passed >= least ? 'passed' : passed <= most ? 'failed' : 'open';
  };
}

/** Simulates suites exactly at their minimum, with a fixed number of iterations, and counts how often either bound is on the wrong side. */
function simulateFixed(): Statistics['fixed'] {
  random = createRandom(1);
  const errors = splitConfidence(confidence);
  return [
    { cases: 20, runs: 1, stuck: 0 },
    { cases: 50, runs: 1, stuck: 0 },
    { cases: 20, runs: 5, stuck: 0.5 },
  ].flatMap((shape) =>
    [0.9, 0.95, 0.98].map((minimum) => {
      let [passed, failed] = [0, 0];
      const known = new Map<string, { lower: number; upper: number } | null>();
      for (let suite = 0; suite < suitesPerCell; suite += 1) {
        const clusters = Array.from({ length: shape.cases }, () => {
          const isStuck = random() < shape.stuck;
          const fate = random() < minimum;
          let passes = 0;
          for (let run = 0; run < shape.runs; run += 1) passes += Number(isStuck ? fate : random() < minimum);
          return { passed: passes, total: shape.runs };
        });
        const key = clusters
          .map((cluster) => cluster.passed)
          .toSorted((one, other) => one - other)
          .join(' ');
        const interval = known.has(key) ? (known.get(key) ?? null) : computeClusteredInterval(clusters, errors);
        known.set(key, interval);
        if (interval === null) continue;
        const rate = clusters.reduce((sum, cluster) => sum + cluster.passed, 0) / (shape.cases * shape.runs);
        if (rate >= minimum && interval.lower >= minimum) passed += 1;
        if (rate < minimum && interval.upper < minimum) failed += 1;
      }
      return { ...shape, minimum, passed: passed / suitesPerCell, failed: failed / suitesPerCell };
    }),
  );
}

/** Simulates suites at a distance from the minimum, next to the exact test that detects this distance nine times in ten. */
function simulateDistances(): Statistics['distances'] {
  random = createRandom(2);
  const errors = splitConfidence(confidence);
  const rates = [
    { minimum: 0.7, distances: [-0.2, -0.1, -0.05, 0.05, 0.1, 0.15, 0.2] },
    { minimum: 0.9, distances: [-0.2, -0.1, -0.05, 0.05, 0.08] },
  ];
  return rates.flatMap(({ minimum, distances }) => {
    const decide = openBounds(minimum, errors);
    return distances.map((distance) => {
      const rate = Math.round((minimum + distance) * 100) / 100;
      const decision = rate > minimum ? 'passed' : 'failed';
      const fixed = countFixedDesign(decision, { minimum, errors, distance: Math.abs(distance), step: 1 }) ?? 0;
      const counts: number[] = [];
      let wrong = 0;
      for (let suite = 0; suite < suitesPerCell; suite += 1) {
        let [passed, total] = [0, 0];
        let found: SequentialDecision = 'open';
        while (found === 'open' && total < 6 * fixed) {
          total += 1;
          if (random() < rate) passed += 1;
          found = decide(passed, total);
        }
        counts.push(total);
        if (found !== 'open' && found !== decision) wrong += 1;
      }
      counts.sort((one, other) => one - other);
      return {
        minimum,
        rate,
        iterations: counts.reduce((sum, count) => sum + count, 0) / suitesPerCell,
        fixed,
        mostFor90: counts[Math.ceil(0.9 * suitesPerCell) - 1] ?? 0,
        wrong: wrong / suitesPerCell,
      };
    });
  });
}

/** Simulates suites two points below, at and five points above a minimum of 90%, whose iterations partly share a state. */
function simulateShared(): Statistics['shared'] {
  const kinds: ReadonlyArray<{ state: Shared; correlation: number }> = [
    { state: 'none', correlation: 0 },
    { state: 'round', correlation: 0.1 },
    { state: 'round', correlation: 0.3 },
    { state: 'gate', correlation: 0.1 },
    { state: 'gate', correlation: 0.3 },
  ];
  const errors = splitConfidence(confidence);
  const decide = openBounds(0.9, errors);
  return kinds.flatMap((kind, index) => {
    random = createRandom(100 + index);
    return [0.88, 0.9, 0.95].map((rate) => {
      const count = { iterations: { passed: 0, failed: 0 }, rounds: { passed: 0, failed: 0 } };
      for (let suite = 0; suite < suitesPerCell; suite += 1) {
        const ofGate = kind.state === 'gate' ? drawRate(rate, kind.correlation) : rate;
        const tally = new Map<number, number>();
        const wealth = openWealth();
        const decided: { iterations: SequentialDecision; rounds: SequentialDecision } = {
          iterations: 'open',
          rounds: 'open',
        };
        let all = 0;
        for (let round = 1; round <= maxRounds; round += 1) {
          const ofRound = kind.state === 'round' ? drawRate(rate, kind.correlation) : ofGate;
          let passed = 0;
          for (let index = 0; index < cases; index += 1) passed += Number(random() < ofRound);
          all += passed;
          tally.set(passed, (tally.get(passed) ?? 0) + 1);
          if (decided.iterations === 'open') {
            decided.iterations = decide(all, round * cases);
          }
          wealth.add(passed);
          if (decided.rounds === 'open' && wealth.isNearDecision(errors.passing)) {
            decided.rounds = decideRateByRounds(listTally(tally), { minimum: 0.9, errors });
          }
          if (decided.iterations !== 'open' && decided.rounds !== 'open') break;
        }
        for (const method of ['iterations', 'rounds'] as const) {
          const decision = decided[method];
          if (decision !== 'open') count[method][decision] += 1;
        }
      }
      const share = ({ passed, failed }: { passed: number; failed: number }) => ({
        passed: passed / suitesPerCell,
        failed: failed / suitesPerCell,
      });
      return { ...kind, rate, iterations: share(count.iterations), rounds: share(count.rounds) };
    });
  });
}

const wealthBets = Array.from({ length: 41 }, (_, index) => index / 40);
const gains = [0.9, 0.1].map((least, side) =>
  Array.from({ length: cases + 1 }, (_, passed) => {
    const gain = (side === 0 ? passed : cases - passed) / cases / least - 1;
    return wealthBets.map((bet) => Math.log1p(bet * gain));
  }),
);

/**
 * Tracks the greatest logarithm of the evidence of any bet. The evidence of all bets is their mean and never greater, so the product is asked
 * only once the greatest is large enough.
 */
function openWealth() {
  const logs = gains.map(() => new Float64Array(wealthBets.length));
  return {
    add: (passed: number): void => {
      for (const [side, own] of logs.entries()) {
        const added = gains[side]?.[passed] ?? [];
        for (let index = 0; index < own.length; index += 1) own[index] = (own[index] ?? 0) + (added[index] ?? 0);
      }
    },
    // Between two bets, the evidence may be slightly greater.
    isNearDecision: (error: number): boolean => logs.some((own) => Math.max(...own) > -Math.log(error) - 0.1),
  };
}

function listTally(tally: ReadonlyMap<number, number>): RoundTally[] {
  return [...tally].map(([passed, rounds]) => ({ passed, failed: cases - passed, rounds }));
}

/** Simulates gates of 20 suites exactly at their minimum of 90%, and counts how often one of the suites fails. */
function simulateFamilies(): Statistics['families'] {
  random = createRandom(3);
  const suites = 20;
  return [1, suites].map((minimums) => {
    const errors = splitConfidence(confidence, minimums);
    const decide = openBounds(0.9, errors);
    let failed = 0;
    for (let gate = 0; gate < suitesPerCell; gate += 1) {
      let hasFailed = false;
      for (let suite = 0; suite < suites && !hasFailed; suite += 1) {
        let passed = 0;
        let decision: SequentialDecision = 'open';
        for (let round = 1; round <= maxRounds && decision === 'open'; round += 1) {
          for (let index = 0; index < cases; index += 1) passed += Number(random() < 0.9);
          decision = decide(passed, round * cases);
        }
        hasFailed = decision === 'failed';
      }
      failed += Number(hasFailed);
    }
    return { suites, minimums, failed: failed / suitesPerCell };
  });
}

/** Simulates a server next to itself: 20 rounds of 20 cases at 95%. Each side has its own state in every round or in the whole gate. */
function simulateSides(): Statistics['sides'] {
  random = createRandom(4);
  const kinds: ReadonlyArray<{ state: Shared; correlation: number }> = [
    { state: 'none', correlation: 0 },
    { state: 'round', correlation: 0.1 },
    { state: 'round', correlation: 0.3 },
    { state: 'gate', correlation: 0.1 },
  ];
  const family = { tests: 1, error: 1 - confidence };
  return kinds.map(({ state, correlation }) => {
    let [byPairs, byRounds] = [0, 0];
    for (let gate = 0; gate < suitesPerCell; gate += 1) {
      const draw = () => drawRate(0.95, state === 'none' ? 0 : correlation);
      const ofGate = [draw(), draw()];
      const differences: number[] = [];
      const pairs = { broken: 0, fixed: 0 };
      for (let round = 0; round < 20; round += 1) {
        const [base = 0, head = 0] = state === 'round' ? [draw(), draw()] : ofGate;
        let difference = 0;
        for (let index = 0; index < cases; index += 1) {
          const [was, is] = [random() < base, random() < head];
          if (was && !is) pairs.broken += 1;
          if (!was && is) pairs.fixed += 1;
          difference += Number(was) - Number(is);
        }
        differences.push(difference / cases);
      }
      byPairs += Number(isWorse(pairs, family));
      byRounds += Number(isWorseByRounds(differences, family));
    }
    return { state, correlation, pairs: byPairs / suitesPerCell, rounds: byRounds / suitesPerCell };
  });
}

/** Draws from the beta distribution with this mean, in which two iterations of one state have this correlation. */
function drawRate(mean: number, correlation: number): number {
  if (correlation === 0) return mean;
  const size = (1 - correlation) / correlation;
  const [good, bad] = [drawGamma(mean * size), drawGamma((1 - mean) * size)];
  return good / (good + bad);
}

/** Source: G. Marsaglia and W. W. Tsang, "A simple method for generating gamma variables", ACM TOMS 26 (2000) 363-372. */
function drawGamma(shape: number): number {
  if (shape < 1) return drawGamma(shape + 1) * random() ** (1 / shape);
  const d = shape - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  for (;;) {
    const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
    const v = (1 + c * normal) ** 3;
    if (v > 0 && Math.log(1 - random()) < normal ** 2 / 2 + d - d * v + d * Math.log(v)) return d * v;
  }
}
