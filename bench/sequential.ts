// Simulates how often a comparison with the base is wrong, and how many pairs it needs, with the product's own functions.
import { isWorse, isWorseByRounds } from '../lib/verdict/statistics/sequential.js';
import { countPairs, limitConfirmingPairs, listSuspects, selectAffordable } from '../lib/verdict/compare-base.js';
import { createRandom } from '../lib/base/random.js';

const confidence = 0.95;

/** Half of the chance of a false alarm is for the cases, and half for the suites and all cases together. */
const ofCases = { tests: 20, error: (1 - confidence) / 2 };
const ofSuites = { tests: 2, error: (1 - confidence) / 2 };

/** Prints how often an unchanged and a worse server are called worse. Throws if a rate differs from the promise. */
export function measureSequential(): void {
  const random = createRandom(20_261_122);
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

/** `found`: the share of runs in which the suite is called worse, after `pairs` pairs on average; `named`: the share in which a case is. */
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
  /** The failure rate of an iteration in the base; null for a separate rate for each case. */
  base: number | null;
  /** The failure rate of the first case in the change; by default, as in the base. */
  broken?: number;
  /** The chance that a process fails all iterations of its round. */
  brokenStarts?: number;
}

/** Simulates gates of 20 cases × 5 in the product's way: their own rounds, and further rounds for cases that seem worse. */
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
