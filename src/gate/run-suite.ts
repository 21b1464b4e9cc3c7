import { randomUUID } from 'node:crypto';
import { formatCount } from '../base/count.ts';
import { ProtocolError, ServerStartError } from '../base/errors.ts';
import { toPercent } from '../model/rate.ts';
import type { SuiteResults } from '../model/results.ts';
import { isTerminalStatus, type Run } from '../model/run.ts';
import type { VerdictReason } from '../model/verdict.ts';
import type { ServiceClient } from '../service/client.ts';
import { listIterations, listSteps } from '../service/iterations.ts';
import { cancelRun, createRun } from '../service/runs.ts';
import { createSuite } from '../service/suites.ts';
import { waitForRun } from '../service/wait.ts';
import { compileSuite } from '../suite/compile.ts';
import { createTally, type Tally } from '../verdict/tally.ts';
import { explainInterruption } from './interruption.ts';
import type { PlannedSuite } from './plan.ts';
import type { ProgressListener } from './progress.ts';
import type { Watch } from './watch.ts';

/** How long cancelling a run may take during teardown; the runner gives a cancelled job 7.5 s in all. */
const cancelTimeoutMs = 2500;

/** How long a run whose server has died may take to say at which case. */
const lastWordsMs = 1000;

/** The API demands a model of every suite. This one is never called: no case has a step that would. */
const modelOfToolOnlySuites = 'none/none';

export interface SuiteRunContext {
  client: ServiceClient;
  projectId: string;
  server: { id: string; name: string };
  watch: Watch;
  onProgress: ProgressListener;
}

/**
 * Takes one suite through the service: creates it and its run, waits for the end, reads every page of iterations.
 * Always returns results: what cut the run short stands in `interruption`, and whatever was read before is kept.
 */
export async function runSuite(planned: PlannedSuite, context: SuiteRunContext): Promise<SuiteResults> {
  const { suite, minimumPassRate, minimumPassRateSource } = planned;
  const caseIds = new Map<string, string>();
  const tally = createTally(suite, { minimumPassRate, minimumPassRateSource, caseIds });
  const end: { run: Run | null; isComplete: boolean; interruption: VerdictReason | null } = {
    run: null,
    isComplete: false,
    interruption: null,
  };
  try {
    const suiteId = await createSuiteOf(planned, caseIds, context);
    await using run = await startRun(suiteId, planned, context);
    end.run = run.current();
    end.interruption = await run.waitForEnd();
    end.run = run.current();
    await readIterations(run.current().id, tally, context);
    end.isComplete = true;
  } catch (error) {
    end.interruption ??= explainInterruption(error);
  }
  const results = tally.finish(end);
  for (const result of results.cases) context.onProgress({ kind: 'case-read', suite: suite.name, result });
  return results;
}

/** Creates the suite with its cases, and records which of the service's case ids stands for which of ours. */
async function createSuiteOf(
  { suite }: PlannedSuite,
  caseIds: Map<string, string>,
  { client, projectId, server, watch }: SuiteRunContext,
): Promise<string> {
  const created = await createSuite(client, {
    projectId,
    suite: {
      name: suite.name,
      serverIds: [server.id],
      model: suite.model ?? modelOfToolOnlySuites,
      tests: compileSuite(suite, { serverName: server.name }),
    },
    idempotencyKey: randomUUID(),
    signal: watch.callOff,
  });
  const { committed, failed } = created.caseUpsert;
  if (committed.length !== suite.cases.length) {
    const names = (failed ?? []).map(({ name, error }) => `${name ?? 'unnamed'}: ${error ?? 'no reason given'}`);
    throw new ProtocolError(
      `The service took ${committed.length} of the ${formatCount(suite.cases.length, 'case')} of ${suite.name}. ${names.join('; ')}`,
    );
  }
  for (const [index, { id }] of committed.entries()) {
    const ours = suite.cases[index]?.id;
    if (id && ours !== undefined) caseIds.set(id, ours);
  }
  return created.suiteId;
}

interface StartedRun extends AsyncDisposable {
  /** The run as last read. */
  current(): Run;
  /** Waits until it ends. When the watch calls it off first, cancels it and returns why. */
  waitForEnd(): Promise<VerdictReason | null>;
}

/** Starts a run that is cancelled on the way out unless it has ended by then. */
async function startRun(suiteId: string, planned: PlannedSuite, context: SuiteRunContext): Promise<StartedRun> {
  const { client, projectId, watch, onProgress } = context;
  const { suite, minimumPassRate } = planned;
  const iterations = suite.cases.reduce((sum, { runs }) => sum + runs, 0);
  const created = await createRun(client, {
    projectId,
    run: { suiteId, passCriteria: { minimumPassRate: toPercent(minimumPassRate) } },
    idempotencyKey: randomUUID(),
    signal: watch.callOff,
  });
  onProgress({ kind: 'run-started', suite: suite.name, runId: created.runId, iterations });

  const request = { projectId, runId: created.runId };
  let run: Run = {
    id: created.runId,
    suiteId: created.suiteId,
    status: created.status,
    result: null,
    summary: null,
    createdAtMs: null,
    completedAtMs: null,
    notes: null,
  };
  const tellProgress = ({ summary }: Run) => {
    const finished = summary === null ? 0 : summary.passed + summary.failed;
    onProgress({ kind: 'run-progress', suite: suite.name, finished, iterations });
  };

  /** A call that the server died of ends the run by itself, and names the case; cancelling at once would be faster. */
  const waitForLastWords = (last: Run): Promise<Run> => {
    const signal = AbortSignal.any([watch.stop, AbortSignal.timeout(lastWordsMs)]);
    return waitForRun(client, { ...request, signal }).catch(() => last);
  };

  return {
    current: () => run,
    waitForEnd: async () => {
      let interruption: VerdictReason | null = null;
      try {
        run = await waitForRun(client, { ...request, onProgress: tellProgress, signal: watch.callOff });
      } catch (error) {
        if (!watch.callOff.aborted || watch.stop.aborted) throw error;
        interruption = explainInterruption(watch.callOff.reason);
        if (watch.callOff.reason instanceof ServerStartError) run = await waitForLastWords(run);
        if (!isTerminalStatus(run.status)) run = await cancelRun(client, { ...request, signal: watch.stop });
      }
      onProgress({ kind: 'run-finished', suite: suite.name, status: run.status });
      return interruption;
    },
    [Symbol.asyncDispose]: async () => {
      if (isTerminalStatus(run.status)) return;
      // Teardown: a service that cannot be reached now cannot be told, and the reason that led here matters more.
      await cancelRun(client, { ...request, signal: AbortSignal.timeout(cancelTimeoutMs) }).catch(() => {});
    },
  };
}

/** Streams every page into the tally; the steps only of iterations whose failure will be shown. */
async function readIterations(runId: string, tally: Tally, context: SuiteRunContext): Promise<void> {
  const { client, projectId, watch } = context;
  for await (const page of listIterations(client, { projectId, runId, signal: watch.stop })) {
    for (const iteration of page) {
      const wanted = tally.wantsSteps(iteration);
      const steps = wanted
        ? await listSteps(client, { projectId, runId, iterationId: iteration.id, signal: watch.stop })
        : null;
      tally.addIteration(iteration, steps);
    }
  }
}
