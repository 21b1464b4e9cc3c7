import { type IterationFailure, maxFailuresPerCase } from '../model/report.ts';
import type { CaseOutline, CaseResults, OwnJudgement, SuiteOutline, SuiteResults } from '../model/results.ts';
import type { Iteration, Run, StepResult } from '../model/run.ts';
import type { VerdictReason } from '../model/verdict.ts';
import { describeFailure, type FailureEvidence } from './failure.ts';
import { type Standing, scoreIteration } from './score.ts';

/**
 * Counts a run's iterations while its pages stream by. Keeps counters, durations, the ids seen and a few failures per
 * case; never an iteration that passed, so that a hundred thousand of them cost little.
 */
export interface Tally {
  /** Whether this iteration would be kept as evidence of a failure, so that its steps are worth reading. */
  wantsSteps(iteration: Iteration): boolean;
  /**
   * Counts one iteration. One that was seen before is not counted again; if the two readings disagree, nothing is
   * known about it: it becomes unscored, or unknown where they differ in the case. `steps` is null where they were not read.
   * `own` overrules the service where that passed the iteration; it can only take a pass away.
   */
  addIteration(iteration: Iteration, steps: readonly StepResult[] | null, own?: OwnJudgement): void;
  finish(end: {
    run: Run | null;
    runUrl: string | null;
    isComplete: boolean;
    interruption: VerdictReason | null;
  }): SuiteResults;
}

export interface TallyOptions {
  /** Fraction 0..1, and where it was asked for. */
  minimumPassRate: number;
  minimumPassRateSource: string;
  /** From the service's id of a case to ours. */
  caseIds: ReadonlyMap<string, string>;
}

interface CaseTally {
  outline: CaseOutline;
  counts: Record<Standing, number>;
  durationsMs: number[];
  evidence: { failed: IterationFailure[]; unscored: IterationFailure[] };
}

interface SeenIteration {
  /** Undefined where it belongs to no case of the suite. */
  tally: CaseTally | undefined;
  standing: Standing;
  /** Whether the service passed it in every reading, and we did not. */
  isOverruled: boolean;
}

export function createTally(suite: SuiteOutline, options: TallyOptions): Tally {
  const tallies = new Map(suite.cases.map((outline) => [outline.id, openCase(outline)]));
  const caseIdsByTitle = indexUniqueTitles(suite.cases);
  const seen = new Map<string, SeenIteration>();

  const findTally = ({ testCaseId, title }: Iteration): CaseTally | undefined => {
    const caseId = testCaseId === null ? caseIdsByTitle.get(title ?? '') : options.caseIds.get(testCaseId);
    return caseId === undefined ? undefined : tallies.get(caseId);
  };

  return {
    wantsSteps: (iteration) => {
      const tally = findTally(iteration);
      return (
        tally !== undefined &&
        !seen.has(iteration.id) &&
        scoreIteration(iteration) === 'failed' &&
        tally.evidence.failed.length < maxFailuresPerCase
      );
    },
    addIteration: (iteration, steps, own = { kind: 'passed' }) => {
      const tally = findTally(iteration);
      const overruling = scoreIteration(iteration) === 'passed' && own.kind !== 'passed' ? own : null;
      const standing = overruling?.kind ?? scoreIteration(iteration);
      const earlier = seen.get(iteration.id);
      if (earlier === undefined) {
        seen.set(iteration.id, { tally, standing, isOverruled: overruling !== null });
        if (tally !== undefined) countIteration(tally, standing, { iteration, steps, overruling });
        return;
      }
      earlier.isOverruled &&= overruling !== null;
      if (earlier.tally !== tally) {
        retractIteration(earlier, iteration.id);
        earlier.tally = undefined;
      } else if (tally !== undefined && earlier.standing !== standing) {
        retractIteration(earlier, iteration.id);
        earlier.standing = 'unscored';
        tally.counts.unscored += 1;
      }
    },
    finish: ({ run, runUrl, isComplete, interruption }) => ({
      suiteId: suite.id,
      name: suite.name,
      file: suite.file,
      minimumPassRate: options.minimumPassRate,
      minimumPassRateSource: options.minimumPassRateSource,
      run,
      runUrl,
      cases: [...tallies.values()].map(closeCase),
      isComplete,
      iterationsRead: seen.size,
      unknownIterations: [...seen.values()].filter(({ tally }) => tally === undefined).length,
      overruled: [...seen.values()].filter(({ tally, isOverruled }) => tally !== undefined && isOverruled).length,
      interruption,
    }),
  };
}

function openCase(outline: CaseOutline): CaseTally {
  return {
    outline,
    counts: { passed: 0, failed: 0, unscored: 0 },
    durationsMs: [],
    evidence: { failed: [], unscored: [] },
  };
}

function closeCase({ outline, counts, durationsMs, evidence }: CaseTally): CaseResults {
  const { id, title, tags, isRequired, location, runs } = outline;
  return {
    id,
    title,
    tags: [...tags],
    isRequired,
    location,
    planned: runs ?? Math.max(1, counts.passed + counts.failed + counts.unscored),
    ...counts,
    durationsMs: [...durationsMs],
    failures: [evidence.failed, evidence.unscored]
      .flatMap((failures) => failures.toSorted((a, b) => (a.iterationNumber ?? 0) - (b.iterationNumber ?? 0)))
      .slice(0, maxFailuresPerCase),
  };
}

/** Titles that name exactly one case, for services that do not say which case an iteration belongs to. */
function indexUniqueTitles(cases: readonly CaseOutline[]): Map<string, string> {
  const byTitle = Map.groupBy(cases, ({ title }) => title);
  return new Map(
    [...byTitle].flatMap(([title, namesakes]) => {
      const [only, ...others] = namesakes;
      return only === undefined || others.length > 0 ? [] : [[title, only.id] as const];
    }),
  );
}

function countIteration(tally: CaseTally, standing: Standing, read: FailureEvidence & { iteration: Iteration }): void {
  tally.counts[standing] += 1;
  const { durationMs } = read.iteration;
  if (standing !== 'unscored' && durationMs !== null) tally.durationsMs.push(durationMs);
  if (standing === 'passed') return;
  const evidence = tally.evidence[standing];
  if (evidence.length < maxFailuresPerCase) evidence.push(describeFailure(read.iteration, read));
}

function retractIteration({ tally, standing }: SeenIteration, iterationId: string): void {
  if (tally === undefined) return;
  tally.counts[standing] -= 1;
  if (standing === 'passed') return;
  tally.evidence[standing] = tally.evidence[standing].filter((failure) => failure.iterationId !== iterationId);
}
