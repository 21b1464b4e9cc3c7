import type { IterationFailure } from './report.ts';
import type { Run } from './run.ts';
import type { SourceLocation } from './suite.ts';
import type { VerdictReason } from './verdict.ts';

/** What is kept of one suite's run: counters, and the evidence of what failed. The only input of the judgement. */
export interface SuiteResults {
  suiteId: string;
  name: string;
  file: string | null;
  /** What is demanded, a fraction 0..1, and where that was said. */
  minimumPassRate: number;
  minimumPassRateSource: string;
  /** The run as last read; null where none was created. */
  run: Run | null;
  /** In the order of the file. */
  cases: CaseResults[];
  /** Whether every page of iterations was read to its end. */
  isComplete: boolean;
  /** Distinct iterations read, scored or not, those of unknown cases included. */
  iterationsRead: number;
  /** Iterations read that belong to no case of this suite. */
  unknownIterations: number;
  /** What cut the run short on our side, such as a dead server or the deadline; null where nothing did. */
  interruption: VerdictReason | null;
}

export interface CaseResults {
  id: string;
  title: string;
  tags: string[];
  isRequired: boolean;
  location: SourceLocation | null;
  /** Iterations that the plan asked for. */
  planned: number;
  passed: number;
  failed: number;
  /** Iterations that ended without a result: cancelled, infrastructure, unknown to us. */
  unscored: number;
  /** Of scored iterations that reported one, in milliseconds. */
  durationsMs: number[];
  /** At most `maxFailuresPerCase`. */
  failures: IterationFailure[];
}
