import type { Clock } from '../../base/time.ts';
import { CancelledError, describeError, ServiceError } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import type { OwnJudgement } from '../../model/results.ts';
import type { Iteration, Run } from '../../model/run.ts';
import { getTrace, listIterations, listSteps } from '../../service/iterations.ts';
import { getRun } from '../../service/runs.ts';
import type { Tally } from '../../verdict/tally.ts';
import type { ConnectedService } from './connect-service.ts';
import type { TraceJudge } from './local-assertions.ts';
import type { EvidenceCollector } from './evidence.ts';
import type { IterationLog, TraceLog } from './trace-log.ts';

/** Where the iterations of a run go. */
interface Reading {
  /** As the evals file calls it, not the service. */
  suite: { id: string; name: string };
  tally: Tally;
  judge: TraceJudge | null;
}

/** Where results are read from, until the signal aborts. */
interface Source {
  service: Pick<ConnectedService, 'client' | 'projectId'>;
  signal: AbortSignal;
}

/** What keeps iterations in addition to the tally. */
interface Keepers {
  iterationLog: IterationLog;
  /** Null if not requested. */
  traceLog: TraceLog | null;
  evidence: EvidenceCollector;
  /** 0 for the first run of a suite. */
  round: number;
  /** Takes the result of an iteration away that says nothing of the case. */
  excuse?: (iteration: Iteration) => Promise<Iteration>;
  /** Gives an iteration its number in the gate, where that is not the one in its run. */
  renumber?: ((iteration: Iteration) => Iteration) | undefined;
}

/** Streams every page into the tally and the evidence, and into the logs where there are any. */
export async function readIterations(
  runId: string,
  { suite, tally, judge }: Reading,
  {
    service: { client, projectId },
    signal,
    iterationLog,
    traceLog,
    evidence,
    round,
    renumber = (iteration) => iteration,
    excuse = async (iteration) => iteration,
  }: Source & Keepers,
): Promise<void> {
  for await (const read of listIterations(client, { projectId, runId, signal })) {
    const page = read.map(renumber);
    await iterationLog.add(suite.id, page, round === 0 ? undefined : round);
    for (const numbered of page) {
      const iteration = await excuse(numbered);
      let trace: unknown;
      const loadTrace = async () =>
        (trace = await readTrace(client, { projectId, runId, iterationId: iteration.id, signal }));
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

/** One request each, of which a hosted service answers one a second: enough to see what broke. */
const maxExplained = { hosted: 60, local: 1000 };

/**
 * Reads which steps failed and why, and traces where they are wanted, last of all: this explains the
 * verdict and is no part of it, so the gate only warns if the service has no answer.
 */
export async function explainFailures(
  runId: string,
  { suite, tally, judge }: Reading,
  source: Source & Pick<Keepers, 'evidence' | 'traceLog'> & { isHosted: boolean; logger: Logger },
): Promise<void> {
  const { service, signal, evidence, traceLog, isHosted } = source;
  const failures = tally.listFailures().slice(0, maxExplained[isHosted ? 'hosted' : 'local']);
  const locate = ({ id }: Iteration) => ({ projectId: service.projectId, runId, iterationId: id, signal });
  await warnOnFailure('Not every failed step could be read', source, async () => {
    for (const iteration of failures) {
      const steps = await listSteps(service.client, locate(iteration));
      tally.explainFailure(iteration.id, judge === null ? steps : judge.placeSteps(iteration, steps));
    }
  });
  await warnOnFailure('Not every trace could be read', source, async () => {
    for (const iteration of failures) {
      if (!evidence.hasRoomForTraces() && traceLog === null) return;
      const location = locate(iteration);
      const trace = await readTrace(service.client, location);
      await evidence.addTrace(suite.id, iteration.id, trace);
      await traceLog?.addTrace(location, trace);
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

/**
 * Reads the traces of all iterations into their log. Not for a hosted service, where each costs a request: its log has the traces of
 * failures, which were read already.
 */
export async function logTraces(runId: string, traceLog: TraceLog, source: Source & { logger: Logger }): Promise<void> {
  const { service, signal } = source;
  await warnOnFailure('Not every trace could be read', source, async () => {
    for (const iterationId of traceLog.listUntraced(runId)) {
      const location = { projectId: service.projectId, runId, iterationId, signal };
      await traceLog.addTrace(location, await readTrace(service.client, location));
    }
  });
}

/** Services count in one place and list in another, of which one may lag behind; a moment later they often agree. */
export async function rereadRun(
  runId: string,
  { service: { client, projectId }, signal, clock, logger }: Source & { clock: Clock; logger: Logger },
): Promise<Run> {
  logger.info('The iterations do not add up to what the service counts; reading them once more.');
  await clock.sleep(lagMs, { signal });
  return await getRun(client, { projectId, runId, signal });
}

const lagMs = 2000;

/** Judges what the service could not, of an iteration that it passed. */
async function judgeHere(
  iteration: Iteration,
  judge: TraceJudge,
  loadTrace: () => Promise<unknown>,
): Promise<OwnJudgement | undefined> {
  if (iteration.result !== 'passed' || !judge.hasAssertions(iteration)) return undefined;
  return await judge.judge(iteration, await loadTrace());
}

/** Undefined where the service keeps none. */
async function readTrace(
  client: ConnectedService['client'],
  location: { projectId: string; runId: string; iterationId: string; signal: AbortSignal },
): Promise<unknown> {
  try {
    return await getTrace(client, location);
  } catch (error) {
    if (error instanceof ServiceError && error.status === 404) return undefined;
    throw error;
  }
}

/** By the gate's id of a case: the number in the gate of its first, second, … iteration in a run. */
export type IterationNumbers = ReadonlyMap<string, readonly number[]>;

/** Gives the iterations of a run, which the service counts from 1, their numbers in the gate. */
export function createRenumbering(numbers: IterationNumbers, caseIds: ReadonlyMap<string, string>) {
  return (iteration: Iteration): Iteration => {
    const { testCaseId, iterationNumber } = iteration;
    const known = numbers.get(caseIds.get(testCaseId ?? '') ?? '');
    const number = iterationNumber === null ? undefined : known?.[iterationNumber - 1];
    return number === undefined ? iteration : { ...iteration, iterationNumber: number };
  };
}
