// Simulates how often a gate with a baseline fails for an unchanged server, and how often it finds a changed case, with the product's own
// functions. `once` judges only by the planned iterations, as `judge` does with a report without further iterations.
import type { Baseline } from '../lib/model/comparison.js';
import type { CaseResults, SuiteResults } from '../lib/model/results.js';
import { selectAffordable } from '../lib/verdict/compare-base.js';
import { compareWithBaseline, limitConfirmingIterations, listUnconfirmed } from '../lib/verdict/compare-baseline.js';
import { createRandom } from '../lib/base/random.js';

const gates = 10_000;
const cases = 20;
const limits = { maximumRegressions: 0, maximumRateDrop: null };

interface Design {
  title: string;
  /** The failure rate of an iteration, before and now. */
  flake: number;
  /** The current failure rate of the first case; by default, that of the others. */
  broken?: number;
  runs: number;
}

const designs: readonly Design[] = [
  ...[0.01, 0.05].flatMap((flake) =>
    [1, 2, 3, 5].map((runs) => ({ title: `flake ${flake * 100}%, unchanged`, flake, runs })),
  ),
  ...[0, 0.01, 0.05].map((flake) => ({ title: `flake ${flake * 100}%, one case broken`, flake, broken: 1, runs: 1 })),
  { title: 'flake 1%, one case fails by half', flake: 0.01, broken: 0.5, runs: 1 },
];

/** Prints the shares of gates that fail. Throws if too many fail for an unchanged server, or too few for a broken case. */
export function measureBaseline(): void {
  console.log(`\nGates of ${cases} cases with a baseline, ${gates} a row: how many fail`);
  console.log('| Cases | Server | Planned iterations alone | With further iterations | Further iterations |');
  console.log('|---|---|---|---|---|');
  const random = createRandom(20_261_125);
  for (const design of designs) {
    const { once, confirmed, further } = runGates(design, random);
    const title = `| ${cases} × ${design.runs} | ${design.title}`;
    console.log(`${title} | ${formatShare(once)} | ${formatShare(confirmed)} | ${further.toFixed(1)} |`);
    if (design.broken === undefined && confirmed > 0.01) throw new Error('An unchanged server fails too often.');
    if (design.broken === 1 && confirmed < (1 - design.flake) * 0.98) throw new Error('A broken case is missed.');
  }
}

function runGates({ flake, broken = flake, runs }: Design, random: () => number) {
  let [once, confirmed, further] = [0, 0, 0];
  for (let gate = 0; gate < gates; gate += 1) {
    const fails = (index: number) => random() < (index === 0 ? broken : flake);
    const draw = (count: number, hasFailed: () => boolean) =>
      Array.from({ length: count }, hasFailed).filter((failed) => !failed).length;
    const ids = Array.from({ length: cases }, (_, index) => String(index));
    const baseline = createBaseline(ids.map((id) => ({ id, passed: draw(runs, () => random() < flake), total: runs })));
    const results = createResults(
      ids.map((id, index) => ({ id, passed: draw(runs, () => fails(index)), total: runs })),
    );
    const compare = () => compareWithBaseline(baseline, [results], limits);
    if (compare().counts.regressed > 0) once += 1;
    let left = limitConfirmingIterations(results, limits.maximumRegressions);
    for (;;) {
      const suspects = listUnconfirmed(compare(), { suiteId, maximumRegressions: limits.maximumRegressions });
      const chosen = selectAffordable(suspects, left);
      if (chosen.size === 0) break;
      left -= chosen.size;
      further += chosen.size;
      for (const testCase of results.cases) {
        if (!chosen.has(testCase.id)) continue;
        const { passed, total } = testCase.confirming ?? { passed: 0, total: 0 };
        testCase.confirming = { passed: passed + draw(1, () => fails(Number(testCase.id))), total: total + 1 };
      }
    }
    if (compare().counts.regressed > 0) confirmed += 1;
  }
  return { once: once / gates, confirmed: confirmed / gates, further: further / gates };
}

const suiteId = 'simulated';

interface Counted {
  id: string;
  passed: number;
  total: number;
}

function createBaseline(counted: readonly Counted[]): Baseline {
  const about = { source: 'simulated', startedAt: '2026-01-01T00:00:00.000Z', commit: null, branch: null };
  const rest = { suiteId, title: null, definitionHash: 'same', replayed: 0 };
  return { ...about, cases: counted.map((each) => ({ ...rest, ...each })) };
}

function createResults(counted: readonly Counted[]): SuiteResults {
  return {
    suiteId,
    name: 'Simulated',
    file: null,
    run: null,
    runUrl: null,
    contradicted: 0,
    tunnelBreaks: 0,
    cases: counted.map(({ id, passed, total }): CaseResults => ({
      id,
      title: id,
      tags: [],
      isRequired: false,
      location: null,
      definitionHash: 'same',
      planned: total,
      passed,
      failed: total - passed,
      unscored: 0,
      durationsMs: [],
      tokensUsed: 0,
      model: null,
      usage: null,
      judges: [],
      replayed: { passed: 0, total: 0 },
      failures: [],
      retries: [],
    })),
    leftOut: [],
    isComplete: true,
    iterationsRead: counted.reduce((sum, { total }) => sum + total, 0),
    unknownIterations: 0,
    overruled: 0,
    interruption: null,
    concurrency: null,
    retries: [],
    isStoppedEarly: false,
  };
}

function formatShare(share: number): string {
  return `${Number((share * 100).toFixed(1))}%`;
}
