import { randomBytes } from 'node:crypto';
import { type Clock, race, startTimeLimit } from '../../base/time.ts';
import { BudgetError, describeError, ServerStartError } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import { isTerminalStatus, type Run } from '../../model/run.ts';
import type { VerdictReason } from '../../model/verdict.ts';
import { listCases } from '../../service/cases.ts';
import { isOutcomeUnknown, createRunExactlyOnce } from '../../service/launch.ts';
import { cancelRun } from '../../service/runs.ts';
import { waitForRun } from '../../service/wait.ts';
import { explainInterruption, type RunLifetime, type Teardown } from './run-lifetime.ts';
import { endRun, type RemoteRun } from './cleanup-journal.ts';
import type { LaunchTime } from './refusals.ts';
import { matchWritten, type PreparedSuite } from './prepare-suite.ts';
import type { ConnectedService } from './connect-service.ts';
import type { ProgressListener } from './progress.ts';
import type { RegisteredServer } from './job-tunnel.ts';
import type { PlannedService } from '../plan/plan-service.ts';

/** How long a run whose server has died may take to say at which case. */
const lastWordsMs = 1000;

export interface StartedRun {
  /** From the service's id of a case to the gate's. */
  readonly caseIds: ReadonlyMap<string, string>;
  /** The page on which people look at it; null where the service has none. */
  readonly url: string | null;
  /** The run as last read. */
  current(): Run;
  /** How often the tunnel to the server has broken off since the run was asked for, and may have cut off a call of it. */
  countBreaks(): number;
  readonly launch: LaunchTime;
  /** Waits until it ends. When the lifetime cancels it first, asks the service to and returns why. */
  waitForEnd(): Promise<VerdictReason | null>;
}

/** Finds the cases of a run whose receipt was lost in the suite itself: those of the file, by title and in their order. */
async function findWritten(
  { suiteId, written }: PreparedSuite,
  { client, projectId, signal }: Pick<ConnectedService, 'client' | 'projectId'> & { signal: AbortSignal },
): Promise<ReadonlyMap<string, string>> {
  if (written.length === 0) return new Map();
  const stored = Map.groupBy(await listCases(client, { projectId, suiteId, signal }), ({ title }) => title);
  const committed = written.flatMap(({ title }) => {
    const found = stored.get(title)?.shift();
    return found === undefined ? [] : [{ id: found.id, name: title }];
  });
  return matchWritten(written, { committed });
}

/** Leaves of a run's notes what the service added to them. */
function dropMarker(run: Run, marker: string): Run {
  const notes = run.notes?.replace(marker, '').trim() ?? '';
  return { ...run, notes: notes === '' ? null : notes };
}

/** What a run is started with, and what follows it to its end. */
interface RunStart {
  service: ConnectedService;
  serviceOptions: Pick<PlannedService, 'modelApiKeys' | 'queueTimeoutMs' | 'hosted'>;
  /** Empty where a suite of the service runs on the servers saved in it. */
  servers: ReadonlyArray<Pick<RegisteredServer, 'countBreaks'>>;
  lifetime: Pick<RunLifetime, 'cancelRun' | 'abort'>;
  teardown: Teardown;
  clock: Clock;
  logger: Logger;
  onProgress: ProgressListener;
}

/** Starts a run of a prepared suite. The teardown cancels it unless it has ended by then. */
export async function startRun(
  prepared: PreparedSuite,
  { service, serviceOptions, servers, lifetime, teardown, clock, logger, onProgress }: RunStart,
): Promise<StartedRun> {
  const { client, urgentClient, projectId, journal } = service;
  const { suiteId, outline } = prepared;
  const { modelApiKeys, queueTimeoutMs, hosted } = serviceOptions;
  // Of this launch alone: under a key of the step, a second command in it would be given the verdict of the first.
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
    // One that was not found may still come; the list that was written down keeps it.
    if (mayExist && !isOver && !(await endRun(urgentClient, remote, { projectId, signal }))) return;
    journal.removeRun(marker);
  });

  const { created, wasReadBack } = await createRunExactlyOnce(client, {
    projectId,
    // The service inside this process has them already.
    run: { ...prepared.run, suiteId, ...(modelApiKeys.size === 0 || hosted === null ? {} : { modelApiKeys }) },
    idempotencyKey,
    marker,
    queueTimeoutMs,
    onQueued: (waitedMs) => onProgress({ kind: 'run-queued', suite: outline.name, waitedMs }),
    signal: lifetime.cancelRun,
  }).catch((error: unknown) => {
    // A gate that stops in the middle of it does not know.
    mayExist = error === lifetime.cancelRun.reason || isOutcomeUnknown(error);
    throw error;
  });
  const { runId } = created;
  const launch = { askedAtMs: launchedAtMs, answeredAtMs: clock.now() };
  remote = { ...remote, runId };
  journal.setRun(remote);
  const url = hosted === null ? null : client.profile.composeRunUrl({ ...hosted, projectId, suiteId, runId });
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
    current: () => run ?? current,
    countBreaks: () => servers.reduce((sum, server) => sum + server.countBreaks(askedAtMs), 0),
    waitForEnd: async () => {
      const request = { projectId, runId };
      const reportProgress = ({ summary }: Run) => {
        const finished = summary === null ? 0 : summary.passed + summary.failed;
        const total = summary === null ? iterations : Math.max(summary.total, finished);
        onProgress({ kind: 'run-progress', suite: outline.name, finished, iterations: total });
      };
      /** A call that the server died of ends the run by itself, and names the case; cancelling at once would be faster. */
      const waitForLastWords = async (last: Run): Promise<Run> => {
        const limited = { afterMs: lastWordsMs, what: 'The end of the run', signal: lifetime.abort };
        using limit = startTimeLimit(clock, limited);
        return await waitForRun(client, { ...request, signal: limit.signal }).catch(() => last);
      };
      /** What cannot be cancelled now is tried again by the teardown, and is no reason to forget the first one. */
      const cancelOrKeep = async (last: Run): Promise<Run> =>
        await cancelRun(client, { ...request, signal: lifetime.abort }).catch((error: unknown) => {
          lifetime.abort.throwIfAborted();
          logger.debug(describeError(error));
          return last;
        });
      let interruption: VerdictReason | null = null;
      let last = current;
      const ended = service.waitForRuns?.(runId);
      try {
        last = await waitForRun(client, { ...request, ended, onProgress: reportProgress, signal: lifetime.cancelRun });
      } catch (error) {
        if (!lifetime.cancelRun.aborted || lifetime.abort.aborted) throw error;
        interruption = explainInterruption(lifetime.cancelRun.reason);
        if (lifetime.cancelRun.reason instanceof ServerStartError) last = await waitForLastWords(last);
        if (!isTerminalStatus(last.status)) last = await cancelOrKeep(last);
        // What was used is known once the iterations under way have ended. A job that is cancelled has no time to wait for that.
        const isWaiting = ended !== undefined && lifetime.cancelRun.reason instanceof BudgetError;
        if (isWaiting) await race(ended, { signals: [lifetime.abort] });
      }
      run = dropMarker(last, marker);
      onProgress({ kind: 'run-finished', suite: outline.name, status: last.status });
      return interruption;
    },
  };
}
