import { CancelledError, describeError } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import type { OwnJudgement } from '../../model/results.ts';
import type { Iteration } from '../../model/run.ts';
import type { Tally } from '../../verdict/tally.ts';
import type { StartedRun } from './backend.ts';
import type { IterationNumbers } from './prepared-suite.ts';
import type { TraceJudge } from './local-assertions.ts';
import type { EvidenceCollector } from './evidence-log.ts';
import type { IterationLog, TraceLog } from './trace-log.ts';

/** The receivers of a run's iterations. */
interface Reading {
  /** The suite's id and name in the evals file, not in the service. */
  suite: { id: string; name: string };
  tally: Tally;
  judge: TraceJudge | null;
}

/** The source of results, readable until the signal aborts. */
interface Source {
  run: Pick<StartedRun, 'listIterations' | 'listSteps' | 'readTrace'>;
  runId: string;
  signal: AbortSignal;
}

/** The keepers of iterations in addition to the tally. */
interface Keepers {
  iterationLog: IterationLog;
  /** Null if not requested. */
  traceLog: TraceLog | null;
  evidence: EvidenceCollector;
  /** 0 for the first run of a suite. */
  round: number;
  /** Removes the result of an iteration that says nothing about the case. */
  markRefused?: (iteration: Iteration) => Promise<Iteration>;
  /** Gives an iteration its number within the gate, if that differs from its number in the run. */
  renumber?: ((iteration: Iteration) => Iteration) | undefined;
}

/** Streams every page into the tally, the evidence and the logs, if there are any. */
export async function readIterations(
  { suite, tally, judge }: Reading,
  {
    run,
    runId,
    signal,
    iterationLog,
    traceLog,
    evidence,
    round,
    renumber = (iteration) => iteration,
    markRefused = async (iteration) => iteration,
  }: Source & Keepers,
): Promise<void> {
  for await (const read of run.listIterations(signal)) {
    const page = read.map(renumber);
    await iterationLog.add(suite.id, page, round === 0 ? undefined : round);
    for (const numbered of page) {
      const iteration = await markRefused(numbered);
      let trace: unknown;
      const loadTrace = async () => (trace = await run.readTrace(iteration.id, signal));
      const own = judge === null ? undefined : await judgeHere(iteration, judge, loadTrace);
      const counted = tally.addIteration(iteration, own);
      if (own?.kind === 'failed') await evidence.addTrace(suite.id, iteration.id, trace);
      if (counted === null) continue;
      evidence.addIteration(suite.id, iteration, counted);
      if (counted.outcome === 'passed') {
        const passed = { suiteId: suite.id, caseId: counted.caseId };
        await evidence.inspect(passed, async () => trace ?? (await loadTrace()));
      }
      await traceLog?.addIteration({ ...counted, suite, runId, iteration, round });
    }
  }
}

/**
 * Reads which steps failed and why, then the traces if they are wanted. This explains the verdict and is no part of it, so the gate only
 * warns if the service does not answer.
 */
export async function explainFailures(
  { suite, tally, judge }: Reading,
  source: Source & Pick<Keepers, 'evidence' | 'traceLog'> & { maxExplained: number; logger: Logger },
): Promise<void> {
  const { run, runId, signal, evidence, traceLog, maxExplained } = source;
  const failures = tally.listFailures().slice(0, maxExplained);
  await warnOnFailure('Not every failed step could be read', source, async () => {
    for (const iteration of failures) {
      const steps = await run.listSteps(iteration.id, signal);
      tally.explainFailure(iteration.id, judge === null ? steps : judge.placeSteps(iteration, steps));
    }
  });
  await warnOnFailure('Not every trace could be read', source, async () => {
    for (const { id: iterationId } of failures) {
      if (!evidence.hasRoomForTraces() && traceLog === null) return;
      const trace = await run.readTrace(iterationId, signal);
      await evidence.addTrace(suite.id, iterationId, trace);
      await traceLog?.addTrace({ runId, iterationId }, trace);
    }
  });
}

async function warnOnFailure(
  what: string,
  { signal, logger }: { signal: AbortSignal; logger: Logger },
  read: () => Promise<void>,
): Promise<void> {
  try {
    await read();
  } catch (error) {
    if (signal.reason instanceof CancelledError) throw error;
    logger.warning(`${what}: ${describeError(error)} The verdict stands.`);
  }
}

/** Reads the traces of all iterations into their log. */
export async function logTraces(traceLog: TraceLog, source: Source & { logger: Logger }): Promise<void> {
  const { run, runId, signal } = source;
  await warnOnFailure('Not every trace could be read', source, async () => {
    for (const iterationId of traceLog.listUntraced(runId)) {
      await traceLog.addTrace({ runId, iterationId }, await run.readTrace(iterationId, signal));
    }
  });
}

/** Judges the assertions that the service does not know, for an iteration that the service passed. */
async function judgeHere(
  iteration: Iteration,
  judge: TraceJudge,
  loadTrace: () => Promise<unknown>,
): Promise<OwnJudgement | undefined> {
  if (iteration.result !== 'passed' || !judge.hasAssertions(iteration)) return undefined;
  return await judge.judge(iteration, await loadTrace());
}

/** Replaces the iteration numbers of a run, which the service counts from 1, by those of the gate. */
export function createRenumbering(numbers: IterationNumbers, caseIds: ReadonlyMap<string, string>) {
  return (iteration: Iteration): Iteration => {
    const { testCaseId, iterationNumber } = iteration;
    const known = numbers.get(caseIds.get(testCaseId ?? '') ?? '');
    const number = iterationNumber === null ? undefined : known?.[iterationNumber - 1];
    return number === undefined ? iteration : { ...iteration, iterationNumber: number };
  };
}
