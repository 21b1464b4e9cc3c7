import { CancelledError, describeError, ServiceError } from '../base/errors.ts';
import type { OwnJudgement } from '../model/results.ts';
import type { Iteration, Run } from '../model/run.ts';
import { getTrace, listIterations, listSteps } from '../service/iterations.ts';
import { getRun } from '../service/runs.ts';
import type { Tally } from '../verdict/tally.ts';
import type { ConnectedService } from './connect-service.ts';
import type { TraceJudge } from './judge-here.ts';
import type { SuiteRunContext } from './run-suite.ts';

/** Where the iterations of a run go. */
interface Reading {
  /** Ours, not the service's. */
  suiteId: string;
  tally: Tally;
  judge: TraceJudge | null;
}

interface ReadingContext extends Pick<
  SuiteRunContext,
  'plan' | 'watch' | 'clock' | 'logger' | 'iterationLog' | 'evidence' | 'retry'
> {
  service: Pick<ConnectedService, 'client' | 'projectId'>;
}

/** Streams every page into the tally and the evidence, and into the log where there is one. */
export async function readIterations(
  runId: string,
  { suiteId, tally, judge }: Reading,
  context: ReadingContext,
): Promise<void> {
  const { service, watch, iterationLog, evidence, retry } = context;
  const { client, projectId } = service;
  for await (const page of listIterations(client, { projectId, runId, signal: watch.stop })) {
    await iterationLog.add(suiteId, page, retry?.round);
    for (const iteration of page) {
      const place = { projectId, runId, iterationId: iteration.id, signal: watch.stop };
      let trace: unknown;
      const loadTrace = async () => (trace = await readTrace(context, place));
      const own = judge === null ? undefined : await judgeHere(iteration, judge, loadTrace);
      const counted = tally.addIteration(iteration, own);
      if (counted !== null) evidence.addIteration(suiteId, iteration, counted);
      if (own?.kind === 'failed') await evidence.addTrace(suiteId, iteration.id, trace);
    }
  }
}

/** One request each, of which a hosted service answers one a second: enough to see what broke. */
const maxExplained = { hosted: 60, local: 1000 };

/**
 * Reads which steps failed and why, and traces where they are wanted, last of all: it tells what the verdict is about and
 * is no part of it, so that a service that has no answer is only warned about.
 */
export async function explainFailures(
  runId: string,
  { suiteId, tally, judge }: Reading,
  context: ReadingContext,
): Promise<void> {
  const { service, watch, plan, evidence } = context;
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
      if (!evidence.hasRoomForTraces()) return;
      await evidence.addTrace(suiteId, iteration.id, await readTrace(context, placeOf(iteration)));
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
  return judge.judge(iteration, await loadTrace());
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
