import { CancelledError, describeError, ServiceError } from '../../base/errors.ts';
import type { OwnJudgement } from '../../model/results.ts';
import type { Iteration, Run } from '../../model/run.ts';
import { getTrace, listIterations, listSteps } from '../../service/iterations.ts';
import { getRun } from '../../service/runs.ts';
import type { Tally } from '../../verdict/tally.ts';
import type { ConnectedService } from './connect-service.ts';
import type { TraceJudge } from './judge-here.ts';
import type { SuiteRunContext } from './run-suite.ts';

/** Where the iterations of a run go. */
interface Reading {
  /** As the evals file calls it, not the service. */
  suite: { id: string; name: string };
  tally: Tally;
  judge: TraceJudge | null;
}

interface ReadingContext extends Pick<
  SuiteRunContext,
  'plan' | 'watch' | 'clock' | 'logger' | 'iterationLog' | 'traceLog' | 'evidence' | 'retry'
> {
  service: Pick<ConnectedService, 'client' | 'projectId'>;
}

/** Streams every page into the tally and the evidence, and into the logs where there are any. */
export async function readIterations(
  runId: string,
  { suite, tally, judge }: Reading,
  context: ReadingContext,
): Promise<void> {
  const { service, watch, iterationLog, traceLog, evidence, retry } = context;
  const { client, projectId } = service;
  for await (const page of listIterations(client, { projectId, runId, signal: watch.stop })) {
    await iterationLog.add(suite.id, page, retry?.round);
    for (const iteration of page) {
      const place = { projectId, runId, iterationId: iteration.id, signal: watch.stop };
      let trace: unknown;
      const loadTrace = async () => (trace = await readTrace(context, place));
      const own = judge === null ? undefined : await judgeHere(iteration, judge, loadTrace);
      const counted = tally.addIteration(iteration, own);
      if (own?.kind === 'failed') await evidence.addTrace(suite.id, iteration.id, trace);
      if (counted === null) continue;
      evidence.addIteration(suite.id, iteration, counted);
      await traceLog?.addIteration({ ...counted, suite, runId, iteration, round: retry?.round ?? 0 });
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
  context: ReadingContext,
): Promise<void> {
  const { service, watch, plan, evidence, traceLog } = context;
  const failures = tally.listFailures().slice(0, maxExplained[plan.service.hosted === null ? 'local' : 'hosted']);
  const placeOf = ({ id }: Iteration) => {
    return { projectId: service.projectId, runId, iterationId: id, signal: watch.stop };
  };
  await tellWhatFails('Not every failed step could be read', context, async () => {
    for (const iteration of failures) {
      const steps = await listSteps(service.client, placeOf(iteration));
      tally.explainFailure(iteration.id, judge === null ? steps : judge.placeSteps(iteration, steps));
    }
  });
  await tellWhatFails('Not every trace could be read', context, async () => {
    for (const iteration of failures) {
      if (!evidence.hasRoomForTraces() && traceLog === null) return;
      const place = placeOf(iteration);
      const trace = await readTrace(context, place);
      await evidence.addTrace(suite.id, iteration.id, trace);
      await traceLog?.addTrace(place, trace);
    }
  });
}

async function tellWhatFails(
  what: string,
  { watch, logger }: Pick<ReadingContext, 'watch' | 'logger'>,
  read: () => Promise<void>,
): Promise<void> {
  try {
    await read();
  } catch (error) {
    if (watch.stop.reason instanceof CancelledError) throw error;
    logger.warning(`${what}: ${describeError(error)} The verdict stands.`);
  }
}

/**
 * Reads the traces of all iterations into their log. Does nothing with a hosted service, where each costs a request: its log has
 * the traces of failures, which were read already.
 */
export async function logTraces(runId: string, context: ReadingContext): Promise<void> {
  const { plan, service, watch, traceLog } = context;
  if (traceLog === null || plan.service.hosted !== null) return;
  await tellWhatFails('Not every trace could be read', context, async () => {
    for (const iterationId of traceLog.listUntraced(runId)) {
      const place = { projectId: service.projectId, runId, iterationId, signal: watch.stop };
      await traceLog.addTrace(place, await readTrace(context, place));
    }
  });
}

/** Services count in one place and list in another, of which one may lag behind; a moment later they often agree. */
export async function rereadRun(runId: string, { service, watch, clock, logger }: ReadingContext): Promise<Run> {
  const { client, projectId } = service;
  logger.info('The iterations do not add up to what the service counts; reading them once more.');
  await clock.sleep(lagMs, { signal: watch.stop });
  return await getRun(client, { projectId, runId, signal: watch.stop });
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
  { service: { client } }: ReadingContext,
  place: { projectId: string; runId: string; iterationId: string; signal: AbortSignal },
): Promise<unknown> {
  try {
    return await getTrace(client, place);
  } catch (error) {
    if (error instanceof ServiceError && error.status === 404) return undefined;
    throw error;
  }
}
