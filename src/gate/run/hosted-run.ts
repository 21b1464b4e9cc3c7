import { caseOperations } from '../../service/operations/cases.ts';
import { callOperation } from '../../service/call-operation.ts';
import { randomBytes } from 'node:crypto';
import { startTimeLimit } from '../../base/time.ts';
import { describeError, ServerStartError, ServiceError } from '../../base/errors.ts';
import { isTerminalStatus, type Run } from '../../model/run.ts';
import type { VerdictReason } from '../../model/verdict.ts';
import { isOutcomeUnknown, createRunExactlyOnce } from '../../service/launch.ts';
import { getTrace, listIterations, listSteps } from '../../service/iterations.ts';
import { cancelRun, getRun } from '../../service/run-client.ts';
import { waitForRun } from '../../service/wait.ts';
import type { RunStart, StartedRun } from './backend.ts';
import type { ConnectedProject, HostedProject } from './hosted-project.ts';
import { explainInterruption } from './run-lifetime.ts';
import { endRun } from './clear-remote.ts';
import type { RemoteRun } from './cleanup-journal.ts';
import { matchWritten } from './prepare-suite.ts';
import type { PreparedSuite } from './prepared-suite.ts';
import type { HostedService, PlannedService } from '../plan/plan-service.ts';

/** How long the gate waits for a run whose server has died to name the case. */
const lastWordsMs = 1000;

/** The wait between two readings of a run whose counts and lists disagree. */
const lagMs = 2000;

/** Finds the cases of a run whose receipt was lost. It searches the suite for those of the file, by title and in their order. */
async function findWritten(
  { suiteId, written }: PreparedSuite,
  { client, projectId, signal }: HostedProject & { signal: AbortSignal },
): Promise<ReadonlyMap<string, string>> {
  if (written.length === 0) return new Map();
  const place = { projectId, suiteId };
  const { items } = await callOperation(client, caseOperations.listEvalCases, place, { signal });
  const stored = Map.groupBy(items, ({ title }) => title);
  const committed = written.flatMap(({ title }) => {
    const found = stored.get(title)?.shift();
    return found === undefined ? [] : [{ id: found.id, name: title }];
  });
  return matchWritten(written, { committed });
}

/** Removes the marker from a run's notes and keeps what the service added. */
function dropMarker(run: Run, marker: string): Run {
  const notes = run.notes?.replace(marker, '').trim() ?? '';
  return { ...run, notes: notes === '' ? null : notes };
}

interface HostedStart extends RunStart {
  plan: Pick<PlannedService, 'modelApiKeys' | 'queueTimeoutMs'>;
  hosted: HostedService;
  project: ConnectedProject;
}

/** Starts a run of a prepared suite in a hosted service. The teardown cancels it unless it has ended by then. */
export async function startHostedRun(
  prepared: PreparedSuite,
  { project, plan, hosted, servers, groupId, lifetime, teardown, clock, logger, onProgress }: HostedStart,
): Promise<StartedRun> {
  const { client, urgentClient, projectId, journal } = project;
  const { suiteId, outline } = prepared;
  const { modelApiKeys, queueTimeoutMs } = plan;
  // The key is for this launch alone: with a key of the step, a second command in the step would get the verdict of the first.
  const idempotencyKey = randomBytes(32).toString('hex');
  const marker = `mcp-eval-ci ${idempotencyKey.slice(0, 32)}`;

  const askedAtMs = clock.monotonicMs();
  const launchedAtMs = clock.now();
  let run: Run | null = null;
  let mayExist = true;
  let remote: RemoteRun = { suiteId, runId: null, marker };
  journal.setRun(remote);
  teardown.add(`cancel the run of ${outline.name}`, async (signal) => {
    const isOver = run !== null && isTerminalStatus(run.status);
    // A run that was not found may still be created; it stays in the saved journal.
    if (mayExist && !isOver && !(await endRun(urgentClient, remote, { projectId, signal }))) return;
    journal.removeRun(marker);
  });

  const { created, wasReadBack } = await createRunExactlyOnce(client, {
    projectId,
    run: {
      ...prepared.run,
      suiteId,
      ...(groupId !== null && { runGroupId: groupId }),
      ...(modelApiKeys.size > 0 && { modelApiKeys }),
    },
    idempotencyKey,
    marker,
    queueTimeoutMs,
    onQueued: (waitedMs) => onProgress({ kind: 'run-queued', suite: outline.name, waitedMs }),
    signal: lifetime.cancelRun,
  }).catch((error: unknown) => {
    // If the gate stops during the call, it does not know whether the run exists.
    mayExist = error === lifetime.cancelRun.reason || isOutcomeUnknown(error);
    throw error;
  });
  const { runId } = created;
  const launch = { askedAtMs: launchedAtMs, answeredAtMs: clock.now() };
  remote = { ...remote, runId };
  journal.setRun(remote);
  const url = client.profile.composeRunUrl({ ...hosted, projectId, suiteId, runId });
  const iterations = outline.cases.reduce((sum, { runs }) => sum + (runs ?? 1), 0);
  onProgress({ kind: 'run-started', suite: outline.name, runId, iterations, url });
  if (created.deduped === true) logger.info('The service had received this launch before; its run is taken up again.');

  const current: Run = {
    id: runId,
    suiteId: created.suiteId,
    status: created.status,
    result: null,
    summary: null,
    createdAtMs: null,
    completedAtMs: null,
    notes: null,
  };
  run = current;
  const written = wasReadBack
    ? await findWritten(prepared, { client, projectId, signal: lifetime.cancelRun })
    : matchWritten(prepared.written, created.caseUpsert ?? { committed: [] });
  return {
    caseIds: new Map([...prepared.caseIds, ...written]),
    url,
    launch,
    concurrency: null,
    current: () => run ?? current,
    countBreaks: () => servers.reduce((sum, server) => sum + server.countBreaks(askedAtMs), 0),
    waitForEnd: async () => {
      const request = { projectId, runId };
      const reportProgress = ({ summary }: Run) => {
        const finished = summary === null ? 0 : summary.passed + summary.failed;
        const total = summary === null ? iterations : Math.max(summary.total, finished);
        onProgress({ kind: 'run-progress', suite: outline.name, finished, iterations: total });
      };
      /**
       * Waits for the end of the run: a call that the server died of ends the run by itself, and names the case. An immediate cancellation
       * would come before that.
       */
      const waitForLastWords = async (last: Run): Promise<Run> => {
        const limited = { afterMs: lastWordsMs, what: 'The end of the run', signal: lifetime.abort };
        using limit = startTimeLimit(clock, limited);
        return await waitForRun(client, { ...request, signal: limit.signal }).catch(() => last);
      };
      /** Cancels the run, or keeps the last reading if that fails. The teardown tries again, and the first interruption stays the reason. */
      const cancelOrKeep = async (last: Run): Promise<Run> =>
        await cancelRun(client, { ...request, signal: lifetime.abort }).catch((error: unknown) => {
          lifetime.abort.throwIfAborted();
          logger.debug(describeError(error));
          return last;
        });
      let interruption: VerdictReason | null = null;
      let last = current;
      try {
        last = await waitForRun(client, { ...request, onProgress: reportProgress, signal: lifetime.cancelRun });
      } catch (error) {
        if (!lifetime.cancelRun.aborted || lifetime.abort.aborted) throw error;
        interruption = explainInterruption(lifetime.cancelRun.reason);
        if (lifetime.cancelRun.reason instanceof ServerStartError) last = await waitForLastWords(last);
        if (!isTerminalStatus(last.status)) last = await cancelOrKeep(last);
      }
      run = dropMarker(last, marker);
      onProgress({ kind: 'run-finished', suite: outline.name, status: last.status });
      return interruption;
    },
    cancel: async (signal) => void (await cancelRun(client, { projectId, runId, signal })),
    reread: async (signal) => {
      logger.info('The iterations do not add up to what the service counts; reading them once more.');
      // Services count in one store and list from another, and one may lag behind; a moment later they often agree.
      await clock.sleep(lagMs, { signal });
      return await getRun(client, { projectId, runId, signal });
    },
    ...readHostedRun(project, runId),
  };
}

/** Reads the iterations of a run that a service keeps. */
export function readHostedRun(
  { client, projectId }: HostedProject,
  runId: string,
): Pick<StartedRun, 'listIterations' | 'listSteps' | 'readTrace'> {
  return {
    listIterations: (signal) => listIterations(client, { projectId, runId, signal }),
    listSteps: async (iterationId, signal) => await listSteps(client, { projectId, runId, iterationId, signal }),
    readTrace: async (iterationId, signal) => {
      try {
        return await getTrace(client, { projectId, runId, iterationId, signal });
      } catch (error) {
        if (error instanceof ServiceError && error.status === 404) return undefined;
        throw error;
      }
    },
  };
}
