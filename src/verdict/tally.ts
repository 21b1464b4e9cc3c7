import { findGreatest } from '../base/lists.ts';
import { maxFailuresPerCase, maxFailuresPerSuite } from '../model/case-report.ts';
import type { CaseOutline, CaseResults, OwnJudgement, SuiteOutline, SuiteResults } from '../model/results.ts';
import type { Iteration, StepResult } from '../model/run.ts';
import { hasUsage, joinJudges, joinUsage, type JudgeUsage, type ModelUsage } from '../model/usage.ts';
import { describeFailure, type FailureEvidence } from './failed-case.ts';

/**
 * Counts a run's iterations while its pages arrive. Keeps counters, durations, the seen ids and some of the failures; never an iteration
 * that passed, so that a hundred thousand of them need little memory.
 */
export interface Tally {
  /**
   * Counts one iteration. An iteration that was seen before is not counted again; if the two readings disagree, it becomes unscored, or
   * unknown if they name different cases. `own` overrules the service if the service passed the iteration; it can only remove a pass.
   * Returns how it counts now; null if it belongs to no case.
   */
  addIteration(iteration: Iteration, own?: OwnJudgement): CountedIteration | null;
  /** Lists the kept iterations that the service failed and that need their steps as an explanation; one of each case before a second of any. */
  listFailures(): Iteration[];
  /** Returns the results of this reading of the run, to compare a second one with them. */
  describeReading(): Reading;
  /** Adds to a kept failure which of its steps failed, and why. */
  explainFailure(iterationId: string, steps: readonly StepResult[]): void;
  finish(end: SuiteEnd): SuiteResults;
}

/** The results of one reading of a run, by the ids of its iterations. */
export interface Reading {
  scored: ReadonlyMap<string, 'passed' | 'failed'>;
  contradicted: ReadonlySet<string>;
}

/** The case that an iteration belongs to, and what it adds to the case's counts. */
export interface CountedIteration {
  caseId: string;
  outcome: IterationOutcome;
}

/** The end of a suite's run, in addition to its iterations. */
export type SuiteEnd = Pick<SuiteResults, 'run' | 'runUrl' | 'isComplete' | 'tunnelBreaks' | 'interruption'>;

export interface TallyOptions {
  /** Maps the service's id of a case to the gate's. */
  caseIds: ReadonlyMap<string, string>;
  /**
   * An earlier reading of the same run. An iteration that passed or failed there has ended: if it has the other result in this reading, it
   * is contradicted, and so is one that failed there and is gone.
   */
  earlier?: Reading;
}

interface CaseTally {
  outline: CaseOutline;
  counts: Record<IterationOutcome, number>;
  durationsMs: number[];
  tokensUsed: number;
  usage: ModelUsage | null;
  judges: JudgeUsage[];
  /** The part of `counts` for iterations in which a recording answered. */
  replayed: Record<IterationOutcome, number>;
  evidence: { failed: KeptIteration[]; unscored: KeptIteration[] };
}

interface KeptIteration extends FailureEvidence {
  iteration: Iteration;
}

interface SeenIteration {
  /** Undefined if it belongs to no case of the suite. */
  tally: CaseTally | undefined;
  outcome: IterationOutcome;
  /** True if the service passed it in every reading, and the gate did not. */
  isOverruled: boolean;
  isReplayed: boolean;
}

export function createTally(suite: SuiteOutline, options: TallyOptions): Tally {
  const tallies = new Map(suite.cases.map((outline) => [outline.id, openCase(outline)]));
  const caseIdsByTitle = indexUniqueTitles(suite.cases);
  const seen = new Map<string, SeenIteration>();
  const contradicted = new Set(options.earlier?.contradicted);
  let keptCount = 0;

  const findTally = ({ testCaseId, title }: Iteration): CaseTally | undefined => {
    const caseId = testCaseId === null ? caseIdsByTitle.get(title ?? '') : options.caseIds.get(testCaseId);
    return caseId === undefined ? undefined : tallies.get(caseId);
  };

  const keep = (list: KeptIteration[], evidence: KeptIteration) => {
    if (list.length >= maxFailuresPerCase || keptCount >= maxFailuresPerSuite) return;
    list.push(evidence);
    keptCount += 1;
  };
  const retract = ({ tally, outcome, isReplayed }: SeenIteration, iterationId: string) => {
    if (tally === undefined) return;
    tally.counts[outcome] -= 1;
    if (isReplayed) tally.replayed[outcome] -= 1;
    if (outcome === 'passed') return;
    const rest = tally.evidence[outcome].filter(({ iteration }) => iteration.id !== iterationId);
    keptCount -= tally.evidence[outcome].length - rest.length;
    tally.evidence[outcome] = rest;
  };

  return {
    addIteration: (iteration, own = { kind: 'passed' }) => {
      const tally = findTally(iteration);
      const overruling = scoreIteration(iteration) === 'passed' && own.kind !== 'passed' ? own : null;
      const outcome = overruling?.kind ?? scoreIteration(iteration);
      const earlier = seen.get(iteration.id);
      if (earlier === undefined) {
        const isReplayed = isIterationReplayed(iteration);
        seen.set(iteration.id, { tally, outcome, isOverruled: overruling !== null, isReplayed });
        if ((options.earlier?.scored.get(iteration.id) ?? outcome) !== outcome) contradicted.add(iteration.id);
        if (tally === undefined) return null;
        countIteration(tally, outcome, iteration);
        if (outcome !== 'passed' && hasBegun(iteration)) {
          keep(tally.evidence[outcome], { iteration, steps: null, overruling });
        }
        return { caseId: tally.outline.id, outcome };
      }
      earlier.isOverruled &&= overruling !== null;
      if (earlier.tally !== tally) {
        retract(earlier, iteration.id);
        earlier.tally = undefined;
        contradicted.add(iteration.id);
      } else if (tally !== undefined && earlier.outcome !== outcome) {
        retract(earlier, iteration.id);
        if (earlier.outcome !== 'unscored' && outcome !== 'unscored') contradicted.add(iteration.id);
        earlier.outcome = 'unscored';
        tally.counts.unscored += 1;
        if (earlier.isReplayed) tally.replayed.unscored += 1;
      }
      return earlier.tally === undefined ? null : { caseId: earlier.tally.outline.id, outcome: earlier.outcome };
    },
    listFailures: () => {
      const lists = [...tallies.values()].map(({ evidence }) => evidence.failed.filter(isUnexplained));
      const longest = Math.max(0, findGreatest(lists.map(({ length }) => length)));
      return Array.from({ length: longest }, (_, index) =>
        lists.flatMap((list) => list[index]?.iteration ?? []),
      ).flat();
    },
    explainFailure: (iterationId, steps) => {
      const tally = seen.get(iterationId)?.tally;
      const kept = tally?.evidence.failed.find(({ iteration }) => iteration.id === iterationId);
      if (kept !== undefined) kept.steps = steps;
    },
    describeReading: () => ({
      scored: new Map(
        [...seen].flatMap(([id, { outcome }]) => (outcome === 'unscored' ? [] : [[id, outcome] as const])),
      ),
      contradicted,
    }),
    finish: ({ run, runUrl, isComplete, tunnelBreaks, interruption }) => ({
      suiteId: suite.id,
      name: suite.name,
      file: suite.file,
      run,
      runUrl,
      cases: [...tallies.values()].map(closeCase),
      leftOut: suite.leftOut,
      isComplete,
      iterationsRead: seen.size,
      unknownIterations: [...seen.values()].filter(({ tally }) => tally === undefined).length,
      overruled: [...seen.values()].filter(({ tally, isOverruled }) => tally !== undefined && isOverruled).length,
      contradicted: new Set([...contradicted, ...listVanished(options.earlier, seen)]).size,
      tunnelBreaks,
      interruption,
      retries: [],
      isStoppedEarly: false,
      concurrency: null,
    }),
  };
}

function openCase(outline: CaseOutline): CaseTally {
  return {
    outline,
    counts: { passed: 0, failed: 0, unscored: 0 },
    durationsMs: [],
    tokensUsed: 0,
    usage: null,
    judges: [],
    replayed: { passed: 0, failed: 0, unscored: 0 },
    evidence: { failed: [], unscored: [] },
  };
}

function closeCase({
  outline,
  counts,
  durationsMs,
  tokensUsed,
  usage,
  judges,
  replayed,
  evidence,
}: CaseTally): CaseResults {
  const { id, title, variantOf, tags, isRequired, location, definitionHash, model, host } = outline;
  const { runs, maxRuns, isDeterministic } = outline;
  return {
    id,
    title,
    ...(variantOf !== undefined && { variantOf }),
    tags: [...tags],
    isRequired,
    location,
    definitionHash,
    planned: runs ?? Math.max(1, counts.passed + counts.failed + counts.unscored),
    ...counts,
    durationsMs: [...durationsMs],
    tokensUsed,
    model,
    ...(host !== undefined && { host }),
    usage,
    judges,
    replayed: { passed: replayed.passed, total: replayed.passed + replayed.failed },
    failures: [evidence.failed, evidence.unscored]
      .map((kept) => kept.map((evidence) => describeFailure(evidence.iteration, evidence)))
      .flatMap((failures) => failures.toSorted((a, b) => (a.iterationNumber ?? 0) - (b.iterationNumber ?? 0)))
      .slice(0, maxFailuresPerCase),
    retries: [],
    ...(maxRuns !== undefined && { maxRuns }),
    ...(isDeterministic !== undefined && { isDeterministic }),
  };
}

/** Lists the iterations that failed in the earlier reading and are gone from this one. A missing pass cannot improve the results. */
function listVanished(earlier: Reading | undefined, seen: ReadonlyMap<string, unknown>): string[] {
  return [...(earlier?.scored ?? [])].flatMap(([id, outcome]) => (outcome === 'failed' && !seen.has(id) ? [id] : []));
}

/** Indexes the titles that name exactly one case, for services that do not say which case an iteration belongs to. */
function indexUniqueTitles(cases: readonly CaseOutline[]): Map<string, string> {
  const byTitle = Map.groupBy(cases, ({ title }) => title);
  return new Map(
    [...byTitle].flatMap(([title, namesakes]) => {
      const [only, ...others] = namesakes;
      return only === undefined || others.length > 0 ? [] : [[title, only.id] as const];
    }),
  );
}

function countIteration(tally: CaseTally, outcome: IterationOutcome, iteration: Iteration): void {
  const { durationMs, tokensUsed, usage, judges } = iteration;
  tally.counts[outcome] += 1;
  if (isIterationReplayed(iteration)) tally.replayed[outcome] += 1;
  // Counts the spending whatever the outcome is.
  tally.tokensUsed += tokensUsed ?? 0;
  if (usage !== null && hasUsage(usage)) tally.usage = joinUsage([tally.usage, usage]);
  tally.judges = joinJudges([...tally.judges, ...judges]);
  if (outcome !== 'unscored' && durationMs !== null) tally.durationsMs.push(durationMs);
}

/** Checks if there may be evidence of an iteration. The end of its run cancels one that has not begun. */
function hasBegun({ status, startedAtMs, error }: Iteration): boolean {
  return status !== 'cancelled' || startedAtMs !== null || error !== null;
}

/** Checks if a failure needs its steps. If the gate's own assertions overruled the service, they already explain it. */
function isUnexplained({ steps, overruling }: KeptIteration): boolean {
  return steps === null && overruling === null;
}

/** Checks if a recording gave at least one of the answers that its result depends on: an answer of its model, or of a gating judge. */
export function isIterationReplayed({ usage, judges }: Pick<Iteration, 'usage' | 'judges'>): boolean {
  return [usage, ...judges.map((judge) => (judge.isGating ? judge.usage : null))].some(
    (used) => used !== null && used.replayedCalls > 0,
  );
}

/** How an iteration counts. `unscored` is neither: it ended without a result, or with an unknown one. */
export type IterationOutcome = 'passed' | 'failed' | 'unscored';

/**
 * Decides how an iteration counts. Only a completed one passes. If it exceeds its own time, the case failed; `failed` without a result shows
 * a fault of the infrastructure, and says nothing about the case.
 */
export function scoreIteration({ status, result }: Pick<Iteration, 'status' | 'result'>): IterationOutcome {
  if (status === 'timed_out' || result === 'timed_out') return 'failed';
  if (result === 'failed' && (status === 'completed' || status === 'failed')) return 'failed';
  return result === 'passed' && status === 'completed' ? 'passed' : 'unscored';
}
