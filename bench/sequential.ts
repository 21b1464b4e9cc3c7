// How many iterations the sequential decisions take, and how often they are wrong, by simulation with the product's own functions.
// The yardstick is the smallest exact binomial test of the same error rate that finds a distance of five points nine times in ten.
import {
  decideRate,
  type EvidenceWeights,
  isWorse,
  isWorseByRounds,
  type SequentialDecision,
} from '../lib/verdict/statistics/sequential.js';
import { countPairs, limitConfirmingPairs, listSuspects, selectAffordable } from '../lib/verdict/compare-base.js';
import { createRandom } from './random.ts';

const confidence = 0.95;
const suitesPerCell = 10_000;
const maxIterations = 2000;

interface Design {
  minimum: number;
  cases: number;
  /** Mean numbers of iterations with rates that are weighed alike, computed elsewhere by another program; null where few suites are decided. */
  published: ReadonlyArray<number | null>;
}

const designs: readonly Design[] = [
  { minimum: 0.8, cases: 20, published: [56, 197, 753, null, 499, 119, 20] },
  { minimum: 0.8, cases: 5, published: [43, 172, 725, null, 480, 100, 20] },
  { minimum: 0.9, cases: 20, published: [41, 125, 471, null, 243, 74, 60] },
  { minimum: 0.9, cases: 50, published: [62, 155, 523, null, 266, 73, 50] },
];

/**
 * The cases' own rates: all the same, or drawn from a Beta distribution with this a + b. `alike` weighs all rates alike on both sides,
 * for comparison with published figures.
 */
const spreads = [
  { name: 'equal', spread: null, weights: undefined },
  { name: 'unequal', spread: 4, weights: undefined },
  { name: 'alike', spread: null, weights: { above: 1, below: 1 } },
];

/** Prints the tables, and throws where an error rate is above what is promised or the iterations are more than half of the yardstick. */
export function measureSequential(): void {
  const random = createRandom(20_261_122);
  console.log(
    `\nSequential decisions at ${confidence * 100} %, ${suitesPerCell} suites a cell, at most ${maxIterations} iterations each`,
  );
  console.log('minimum cases rates    true  decided after  wrong   open   fixed  share');
  const shares: number[] = [];
  let worst = 0;
  let farthest = 0;
  for (const design of designs) {
    const fixed = { passed: findFixedDesign(design.minimum, 0.05), failed: findFixedDesign(design.minimum, -0.05) };
    for (const { name, spread, weights } of spreads) {
      for (const [index, rate] of listRates(design.minimum).entries()) {
        const cell = simulateCell({ ...design, rate, spread, weights }, random);
        const right = rate >= design.minimum ? 'passed' : 'failed';
        const share = rate === design.minimum ? null : cell.meanIterations / fixed[right];
        if (share !== null && name === 'equal') shares.push(share);
        worst = Math.max(worst, cell.wrong);
        const published = name === 'alike' ? (design.published[index] ?? null) : null;
        if (published !== null) farthest = Math.max(farthest, Math.abs(cell.meanIterations / published - 1));
        console.log(
          [
            `${design.minimum * 100} %`.padStart(7),
            String(design.cases).padStart(5),
            name.padEnd(8),
            `${Math.round(rate * 100)} %`.padStart(5),
            cell.meanIterations.toFixed(0).padStart(14),
            `${(cell.wrong * 100).toFixed(2)} %`.padStart(6),
            `${(cell.open * 100).toFixed(0)} %`.padStart(6),
            (share === null ? '' : String(fixed[right])).padStart(7),
            (share === null ? '' : share.toFixed(2)).padStart(6),
          ].join(' '),
        );
      }
    }
  }
  const meanShare = sum(shares) / shares.length;
  console.log(
    `most wrong verdicts of a cell ${(worst * 100).toFixed(2)} % (promised 5 %); mean share of the fixed design ${meanShare.toFixed(3)}`,
  );
  console.log(`farthest from the published figures ${(farthest * 100).toFixed(1)} % (at most 5 %)`);
  // Three standard errors of a share of 5 % in so many suites.
  const margin = 3 * Math.sqrt((0.05 * 0.95) / suitesPerCell);
  if (worst > 1 - confidence + margin) throw new Error('A cell has more wrong verdicts than promised.');
  if (meanShare > 0.5) throw new Error('The decisions take more than half of the iterations of the fixed design.');
  if (farthest > 0.05) throw new Error('The published figures are not reproduced.');
  measureComparisons(random);
}

interface Cell extends Design {
  rate: number;
  spread: number | null;
  weights: EvidenceWeights | undefined;
}

function simulateCell(cell: Cell, random: () => number) {
  const { minimum, weights } = cell;
  const rule = { minimum, confidence, ...(weights !== undefined && { weights }) };
  const known = new Map<number, SequentialDecision>();
  // A suite's decision depends on its two counts alone, and most suites come through the same ones.
  const decide = (passed: number, failed: number): SequentialDecision => {
    const key = passed * 10_000 + failed;
    const found = known.get(key) ?? decideRate({ passed, failed }, rule);
    known.set(key, found);
    return found;
  };
  let iterations = 0;
  let wrong = 0;
  let open = 0;
  for (let suite = 0; suite < suitesPerCell; suite += 1) {
    const rates = drawRates(cell, random);
    let [passed, failed] = [0, 0];
    let decision: SequentialDecision = 'open';
    while (decision === 'open' && passed + failed + rates.length <= maxIterations) {
      for (const rate of rates) {
        if (random() < rate) passed += 1;
        else failed += 1;
      }
      decision = decide(passed, failed);
    }
    iterations += passed + failed;
    if (decision === 'open') open += 1;
    else if (decision !== (cell.rate >= cell.minimum ? 'passed' : 'failed')) wrong += 1;
  }
  return { meanIterations: iterations / suitesPerCell, wrong: wrong / suitesPerCell, open: open / suitesPerCell };
}

/** The rates of the cases, whose mean is `rate`: equal ones, or drawn from a Beta distribution and then moved to that mean. */
function drawRates({ cases, rate, spread }: Cell, random: () => number): number[] {
  if (spread === null || rate >= 1) return Array.from({ length: cases }, () => rate);
  const drawn = Array.from({ length: cases }, () => drawBeta(rate * spread, (1 - rate) * spread, random));
  const mean = sum(drawn) / cases;
  return mean > rate
    ? drawn.map((value) => (value * rate) / mean)
    : drawn.map((value) => 1 - ((1 - value) * (1 - rate)) / (1 - mean));
}

/** Source: M. D. Jöhnk, "Erzeugung von betaverteilten und gammaverteilten Zufallszahlen", Metrika 8 (1964) 5-15. */
function drawBeta(a: number, b: number, random: () => number): number {
  for (;;) {
    const [x, y] = [random() ** (1 / a), random() ** (1 / b)];
    if (x + y > 0 && x + y <= 1) return x / (x + y);
  }
}

function listRates(minimum: number): number[] {
  return [
    ...new Set(
      [-0.2, -0.1, -0.05, 0, 0.05, minimum === 0.9 ? 0.09 : 0.1, 1 - minimum].map((distance) =>
        round(minimum + distance),
      ),
    ),
  ];
}

function round(rate: number): number {
  return Math.round(rate * 1e6) / 1e6;
}

/** The smallest number of iterations with which the exact one-sided binomial test finds `distance` with a power of 90 %. */
function findFixedDesign(minimum: number, distance: number): number {
  // A minimum that is missed is the same question about failures.
  const [none, some] = distance > 0 ? [minimum, minimum + distance] : [1 - minimum, 1 - minimum - distance];
  for (let total = 10; ; total += 5) {
    if (tail(total, findCritical(total, none), some) >= 0.9) return total;
  }
}

/** The least number of passes that has a chance of at most 5 % at this rate. */
function findCritical(total: number, rate: number): number {
  let chance = 0;
  for (let count = total; count >= 0; count -= 1) {
    chance += Math.exp(logBinomial(total, count, rate));
    if (chance > 1 - confidence) return count + 1;
  }
  return 0;
}

function tail(total: number, least: number, rate: number): number {
  let chance = 0;
  for (let count = least; count <= total; count += 1) chance += Math.exp(logBinomial(total, count, rate));
  return chance;
}

const logFactorials: number[] = [0];
function logFactorial(n: number): number {
  for (let next = logFactorials.length; next <= n; next += 1)
    logFactorials.push((logFactorials[next - 1] ?? 0) + Math.log(next));
  return logFactorials[n] ?? 0;
}

function logBinomial(total: number, count: number, rate: number): number {
  const ways = logFactorial(total) - logFactorial(count) - logFactorial(total - count);
  return ways + count * Math.log(rate) + (total - count) * Math.log(1 - rate);
}

/** A half of the chance of a false alarm is for the cases, and the other for the suites and all cases together. */
const ofCases = { tests: 20, error: (1 - confidence) / 2 };
const ofSuites = { tests: 2, error: (1 - confidence) / 2 };

function measureComparisons(random: () => number): void {
  const percent = (share: number) => `${(share * 100).toFixed(2)} %`;
  console.log(`\nHead against base at ${confidence * 100} %, 20 cases`);
  const same = compareSides({ base: 0.95, head: () => 0.95, rounds: 30, runs: 10_000 }, random);
  console.log(
    `base against itself, 30 rounds: ${percent(same.found)} called regressed, ${percent(same.named)} name a case`,
  );
  const allWorse = compareSides({ base: 0.95, head: () => 0.85, rounds: 100, runs: 2000 }, random);
  console.log(
    `all cases 10 points worse: found in ${percent(allWorse.found)} after ${allWorse.pairs.toFixed(0)} pairs`,
  );
  const gates: Array<[string, GateDesign, number]> = [
    ['alike, 5 %', { base: 0.05 }, 0],
    ['flaky, 50 %', { base: 0.5 }, 0],
    ['unequal', { base: null }, 0],
    ['5 %, a process for each round that is broken with 5 %', { base: 0.05, brokenStarts: 0.05 }, 0],
    ['5 %, one case broken', { base: 0.05, broken: 1 }, 0.9],
    ['20 %, one case broken', { base: 0.2, broken: 1 }, 0.8],
    ['1 %, one case fails by half', { base: 0.01, broken: 0.5 }, 0.7],
  ];
  for (const [name, design, least] of gates) {
    const { worse, pairs } = runGates(design, random);
    console.log(`gates of 20 cases × 5, ${name}: ${percent(worse)} fail, ${pairs.toFixed(0)} pairs more on average`);
    if (least === 0 && worse > 0.05) throw new Error('A gate fails too often for a base that is compared with itself.');
    if (worse < least) throw new Error('A gate misses a broken case too often.');
  }
  if (same.found > 0.05 || same.named > 0.05) throw new Error('A base is called worse than itself too often.');
  if (allWorse.pairs > 250) throw new Error('A head that is 10 points worse is found too late.');
}

/** `found`: the share of runs in which the suite is called worse; `pairs`: after how many on average; `named`: in which a case is. */
function compareSides(
  { base, head, rounds, runs }: { base: number; head: (index: number) => number; rounds: number; runs: number },
  random: () => number,
) {
  const foundAfter: number[] = [];
  let named = 0;
  for (let run = 0; run < runs; run += 1) {
    const cases = Array.from({ length: 20 }, () => ({ broken: 0, fixed: 0 }));
    const total = { broken: 0, fixed: 0 };
    let [isFound, isNamed] = [false, false];
    for (let round = 1; round <= rounds && !(isFound && isNamed); round += 1) {
      for (const [index, counts] of cases.entries()) {
        const [before, after] = [random() < base, random() < head(index)];
        const changed = before === after ? null : before ? 'broken' : 'fixed';
        if (changed === null) continue;
        counts[changed] += 1;
        total[changed] += 1;
      }
      isNamed ||= cases.some((counts) => isWorse(counts, ofCases));
      if (isFound || !isWorse(total, ofSuites)) continue;
      isFound = true;
      foundAfter.push(round * cases.length);
    }
    if (isNamed) named += 1;
  }
  const found = foundAfter.length;
  return { found: found / runs, pairs: found === 0 ? Infinity : sum(foundAfter) / found, named: named / runs };
}

interface GateDesign {
  /** How often an iteration fails in the base; null for a rate of its own for each case. */
  base: number | null;
  /** How often the first case fails in the change; as in the base unless given. */
  broken?: number;
  /** The chance that a process fails every iteration of its round. */
  brokenStarts?: number;
}

/** Runs gates of 20 cases × 5 as a gate runs and judges them: their own rounds, and further ones of cases that seem worse. */
function runGates({ base, broken, brokenStarts = 0 }: GateDesign, random: () => number) {
  const gates = 10_000;
  let [worse, further] = [0, 0];
  for (let gate = 0; gate < gates; gate += 1) {
    const rates = Array.from({ length: 20 }, () => base ?? random());
    const cases = rates.map((_, index) => ({ id: String(index), base: '', head: '', cached: 0, confirming: 0 }));
    const differences: number[] = [];
    const runRound = (ids: ReadonlySet<string>) => {
      const [isBaseBroken, isHeadBroken] = [random() < brokenStarts, random() < brokenStarts];
      let difference = 0;
      for (const [index, item] of cases.entries()) {
        if (!ids.has(item.id)) continue;
        const rate = rates[index] ?? 0;
        const [before, after] = [
          isBaseBroken || random() < rate,
          isHeadBroken || random() < (index === 0 ? (broken ?? rate) : rate),
        ];
        item.base += before ? 'f' : 'p';
        item.head += after ? 'f' : 'p';
        difference += Number(after) - Number(before);
      }
      return difference / ids.size;
    };
    const everyCase = new Set(cases.map(({ id }) => id));
    for (let round = 0; round < 5; round += 1) differences.push(runRound(everyCase));
    const own = cases.map((item) => countPairs(item));
    let left = limitConfirmingPairs({ cases }, 0);
    const limits = { cases: cases.length, confidence, deterministic: new Set<string>() };
    for (;;) {
      const ids = selectAffordable(listSuspects({ cases }, limits), left);
      if (ids.size === 0) break;
      runRound(ids);
      for (const item of cases) if (ids.has(item.id)) item.confirming += 1;
      left -= ids.size;
      further += ids.size;
    }
    const total = {
      broken: sum(own.map((counts) => counts.broken)),
      fixed: sum(own.map((counts) => counts.fixed)),
    };
    const isSuiteWorse = brokenStarts > 0 ? isWorseByRounds(differences, ofSuites) : isWorse(total, ofSuites);
    if (isSuiteWorse || cases.map((item) => countPairs(item)).some((counts) => isWorse(counts, ofCases))) worse += 1;
  }
  return { worse: worse / gates, pairs: further / gates };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
