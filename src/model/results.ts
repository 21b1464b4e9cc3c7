import type { Counts } from './comparison.ts';
import type { ConcurrencyReport } from './concurrency.ts';
import type { IterationFailure, RetryRound } from './report.ts';
import type { Run } from './run.ts';
import type { SourceLocation } from './suite.ts';
import type { VerdictReason } from './verdict.ts';

/** What is known of a suite before its run, whether it came from a file or is a service's own. */
export interface SuiteOutline {
  id: string;
  name: string;
  /** Null for a suite that no file here describes. */
  file: string | null;
  cases: CaseOutline[];
  /** Ids of the suite's cases that were not selected. */
  leftOut: string[];
}

export interface CaseOutline {
  id: string;
  title: string;
  tags: string[];
  isRequired: boolean;
  location: SourceLocation | null;
  /** Of what the case does; null where that is not known. */
  definitionHash: string | null;
  /** How many iterations the plan asks for; null for as many as the service decides. */
  runs: number | null;
}

/** The outcome of the assertions that the service does not know, in an iteration that it passed. */
export type OwnJudgement =
  | { kind: 'passed' }
  /** `step` is the first one that does not hold; null for a check at the end of the case. */
  | { kind: 'failed'; reason: string; step: IterationFailure['step'] }
  /** The service recorded too little to tell. */
  | { kind: 'unscored'; reason: string };

/** What is kept of one suite's run: counters, and the evidence of what failed. The only input of the judgement. */
export interface SuiteResults {
  suiteId: string;
  name: string;
  file: string | null;
  /** The run as last read; null where none was created. */
  run: Run | null;
  /** The page on which the service shows the run; null where there is none. */
  runUrl: string | null;
  /** In the order of the file. */
  cases: CaseResults[];
  /** Ids of the suite's cases that were not selected. */
  leftOut: string[];
  /** Whether every page of iterations was read to its end. */
  isComplete: boolean;
  /** Distinct iterations read, scored or not, those of unknown cases included. */
  iterationsRead: number;
  /** Iterations read that belong to no case of this suite. */
  unknownIterations: number;
  /** Iterations of known cases that the service passed and our own assertions did not; counted above as failed or unscored. */
  overruled: number;
  /** Iterations that the service gave two different results for, or listed once and not again. */
  contradicted: number;
  /**
   * How often the tunnel to the server broke off during the run and may have cut off calls of it, whether or not it came
   * back; 0 where there is none.
   */
  tunnelBreaks: number;
  /** What cut the run short on our side, such as a dead server or the deadline; null where nothing did. */
  interruption: VerdictReason | null;
  /** The further rounds, in which only what had failed was run again; everything above is of the first. */
  retries: RetryRound[];
  /** Whether we cancelled the run because its verdict was settled; the iterations that did not run are unscored. */
  isStoppedEarly: boolean;
  /** How its iterations were scheduled; null where a hosted service decided that, or nothing ran. */
  concurrency: ConcurrencyReport | null;
}

export interface CaseResults {
  id: string;
  title: string;
  tags: string[];
  isRequired: boolean;
  location: SourceLocation | null;
  definitionHash: string | null;
  /** Iterations that the plan asked for; where it left that to the service, those read, or one where none was. */
  planned: number;
  passed: number;
  failed: number;
  /** Iterations that ended without a result: cancelled, infrastructure, unknown to us. */
  unscored: number;
  /** Of scored iterations that reported one, in milliseconds. */
  durationsMs: number[];
  /** Of all its iterations together, further rounds included; those that report none count as none. */
  tokensUsed: number;
  /** At most `maxFailuresPerCase`. */
  failures: IterationFailure[];
  /** What the further rounds made of it, each of which had a result for every iteration; empty where it was not run again. */
  retries: Counts[];
}
