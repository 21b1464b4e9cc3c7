import { applyPolicyDefaults, emptyPolicyLayer } from '../lib/model/policy.js';
import type { CaseResults, SuiteResults } from '../lib/model/results.js';
import type { VerdictOutcome } from '../lib/model/verdict.js';
import { judgeSuite } from '../lib/verdict/judge.js';
import { createRandom } from '../lib/base/random.js';

// Simulates how often each judging method is wrong, on suites with a known true rate. The same seed gives the same table.

const minimum = 0.9;
const suitesPerCell = 10_000;
const ratesBelow = [0.8, 0.85, 0.88] as const;
const ratesAbove = [0.92, 0.95, 0.98] as const;

interface Shape {
  title: string;
  cases: number;
  runs: number;
  /** The share of the cases that always pass or always fail, which is the correlation of the repeats of a case. */
  stuck: number;
}

const shapes: readonly Shape[] = [
  { title: '20 cases × 1', cases: 20, runs: 1, stuck: 0 },
  { title: '20 cases × 5, independent', cases: 20, runs: 5, stuck: 0 },
  { title: '20 cases × 5, half of them alike', cases: 20, runs: 5, stuck: 0.5 },
  { title: '100 cases × 1', cases: 100, runs: 1, stuck: 0 },
  { title: '100 cases × 5, half of them alike', cases: 100, runs: 5, stuck: 0.5 },
];

interface Method {
  title: string;
  confidence: number | null;
  /** The maximum number of retries of a failed iteration, of which one must pass. */
  retries: number;
}

const methods: readonly Method[] = [
  { title: 'count', confidence: null, retries: 0 },
  { title: 'count, 1 retry', confidence: null, retries: 1 },
  { title: 'count, 2 retries', confidence: null, retries: 2 },
  { title: 'confidence 80%', confidence: 0.8, retries: 0 },
  { title: 'confidence 95%', confidence: 0.95, retries: 0 },
];

/** Prints the shares of suites that are judged wrongly and that stay undecided, by true rate. */
export function measureVerdict(): void {
  console.log(`\nverdict: minimum ${formatShare(minimum)}, ${suitesPerCell} simulated suites per cell`);
  console.log('passed although the true rate is below, or failed although it is above; in brackets: inconclusive\n');
  const rates = [...ratesBelow, ...ratesAbove];
  const head = ['Suite', 'Judged by', ...rates.map((rate) => `true ${formatShare(rate)}`)];
  console.log(`| ${head.join(' | ')} |\n|${head.map(() => '---').join('|')}|`);
  for (const shape of shapes) {
    for (const method of methods) {
      const cells = rates.map((rate) => {
        const counts = simulate(shape, method, rate);
        const wrong = rate < minimum ? counts.passed : counts.failed;
        const open = method.confidence === null ? '' : ` (${formatShare(counts.inconclusive / suitesPerCell)})`;
        return `${formatShare(wrong / suitesPerCell)}${open}`;
      });
      console.log(`| ${[shape.title, method.title, ...cells].join(' | ')} |`);
    }
  }
}

function simulate(shape: Shape, { confidence, retries }: Method, rate: number): Record<VerdictOutcome, number> {
  const counts: Record<VerdictOutcome, number> = { passed: 0, failed: 0, inconclusive: 0 };
  // All methods without retries judge the same suites.
  const random = createRandom(Math.round(rate * 1000) + shape.cases * 7919 + shape.runs * 104_729);
  const layer = {
    ...emptyPolicyLayer,
    minimumPassRate: { value: minimum, source: 'bench' },
    confidence: confidence === null ? null : { value: confidence, source: 'bench' },
  };
  const policy = { requirements: applyPolicyDefaults(layer), today: '2026-01-01' };
  for (let index = 0; index < suitesPerCell; index += 1) {
    const cases = Array.from({ length: shape.cases }, (_, number) =>
      drawCase(number, { ...shape, rate, retries }, random),
    );
    counts[judgeSuite(createResults(cases), { policy }).outcome] += 1;
  }
  return counts;
}

function drawCase(
  number: number,
  { runs, stuck, rate, retries }: { runs: number; stuck: number; rate: number; retries: number },
  random: () => number,
): CaseResults {
  const isStuck = random() < stuck;
  const fate = random() < rate;
  let passed = 0;
  for (let run = 0; run < runs; run += 1) {
    let hasPassed = isStuck ? fate : random() < rate;
    for (let retry = 0; retry < retries && !hasPassed; retry += 1) hasPassed = isStuck ? fate : random() < rate;
    passed += Number(hasPassed);
  }
  return {
    id: `case-${number}`,
    title: `Case ${number}`,
    tags: [],
    isRequired: false,
    location: null,
    definitionHash: null,
    planned: runs,
    passed,
    failed: runs - passed,
    unscored: 0,
    durationsMs: [],
    tokensUsed: 0,
    model: null,
    usage: null,
    judges: [],
    replayed: { passed: 0, total: 0 },
    failures: [],
    retries: [],
  };
}

function createResults(cases: CaseResults[]): SuiteResults {
  return {
    suiteId: 'simulated',
    name: 'Simulated',
    file: null,
    run: {
      id: 'run',
      suiteId: 'simulated',
      status: 'completed',
      result: null,
      summary: null,
      createdAtMs: null,
      completedAtMs: null,
      notes: null,
    },
    runUrl: null,
    contradicted: 0,
    tunnelBreaks: 0,
    cases,
    leftOut: [],
    isComplete: true,
    iterationsRead: cases.reduce((sum, { planned }) => sum + planned, 0),
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
