/** The duration of a state that iterations share: none, a round, or the whole gate. */
export type Shared = 'none' | 'round' | 'gate';

interface Decided {
  passed: number;
  failed: number;
}

/** The figures of `npm run bench -- statistics`; shares are fractions 0..1. */
export interface Statistics {
  /** The number of simulated suites in each cell. */
  suites: number;
  /** Suites at their minimum with a fixed number of iterations; `stuck` is the share of cases that always pass or always fail. */
  fixed: Array<{ cases: number; runs: number; stuck: number; minimum: number } & Decided>;
  /** Mean iterations of a range of runs, iterations of the exact test for the distance, and iterations that decide nine suites in ten. */
  distances: Array<{
    minimum: number;
    rate: number;
    iterations: number;
    fixed: number;
    mostFor90: number;
    wrong: number;
  }>;
  /** 20 cases against a minimum of 90%, at most 50 rounds, judged by iterations and by the means of rounds. */
  shared: Array<{ state: Shared; correlation: number; rate: number; iterations: Decided; rounds: Decided }>;
  /** Gates whose suites are all at their minimum, by how many minimums share the error of failing. */
  families: Array<{ suites: number; minimums: number; failed: number }>;
  /** An unchanged server next to itself: how often it is called worse by its pairs and by the means of rounds. */
  sides: Array<{ state: Shared; correlation: number; pairs: number; rounds: number }>;
}
