/** How long a state lasts that iterations share: not at all, for a round, or for the whole gate. */
export type Shared = 'none' | 'round' | 'gate';

interface Decided {
  passed: number;
  failed: number;
}

/** What `npm run bench -- statistics` found; shares are fractions 0..1. */
export interface Statistics {
  /** Simulated in each cell. */
  suites: number;
  /** Suites at their minimum with a fixed number of iterations; `stuck` is the share of cases that always pass or always fail. */
  fixed: Array<{ cases: number; runs: number; stuck: number; minimum: number } & Decided>;
  /** Mean iterations of a range of runs, those of the exact test for the distance, and those within which nine suites in ten are decided. */
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
  /** An unchanged server next to itself, called worse by its pairs and by the means of rounds. */
  sides: Array<{ state: Shared; correlation: number; pairs: number; rounds: number }>;
}
