import type { Clock } from '../base/clock.ts';
import { CancelledError, NetworkError, ServerStartError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import { redactDeep, type Redactor } from '../base/redaction.ts';
import { generator } from '../base/version.ts';
import type { Report, ServerReport } from '../model/report.ts';
import type { SuiteResults } from '../model/results.ts';
import type { Verdict } from '../model/verdict.ts';
import { buildReport } from '../report/build.ts';
import type { RunningServer } from '../server/running-server.ts';
import { listProjects } from '../service/account.ts';
import { openServiceClient, type ServiceClient } from '../service/client.ts';
import { serviceProfiles } from '../service/profile.ts';
import { createServer } from '../service/servers.ts';
import { judgeGate, judgeSuite } from '../verdict/judge.ts';
import { createTally, type Tally } from '../verdict/tally.ts';
import { explainInterruption } from './interruption.ts';
import type { GatePlan, PlannedSuite } from './plan.ts';
import type { ProgressListener } from './progress.ts';
import { runSuite } from './run-suite.ts';
import { startWatch, type Watch } from './watch.ts';

/** Iterations at once. More would only queue up behind each other on the few cores of a CI machine. */
export const concurrency = 4;

/** What the gate needs of its surroundings. */
export interface GateContext {
  clock: Clock;
  logger: Logger;
  /** Is told every secret before anything could print it. */
  redactor: Redactor;
  /** Aborting stops everything that was started and makes the verdict inconclusive. */
  signal: AbortSignal;
  /** The job's environment, of which the server under test gets an allow-listed part. */
  environment: Readonly<Record<string, string | undefined>>;
  onProgress?: ProgressListener;
  /** Put into the environment of every process that is started, so that leftovers can be found by it. */
  processMarker?: string;
}

export interface GateResult {
  report: Report;
  /** 0 passed · 1 failed · 3 inconclusive · 130, 143 stopped by a signal. */
  exitCode: 0 | 1 | 3 | 130 | 143;
}

/**
 * Runs the gate: starts the server under test, runs the suites against it, judges, and leaves nothing running. Whatever
 * the surroundings do ends in a report with an inconclusive verdict; only a bug of ours is thrown.
 */
export async function gate(plan: GatePlan, context: GateContext): Promise<GateResult> {
  const { clock, signal } = context;
  const startedAt = new Date(clock.now()).toISOString();
  const startedMs = clock.monotonicMs();
  using watch = startWatch(clock, { timeoutMs: plan.timeoutMs, signal });

  const { server, results } = await runSuites(plan, context, watch);
  const suites = results.map((suite) => ({ results: suite, verdict: judgeSuite(suite) }));
  const verdict = judgeGate(suites.map((suite) => suite.verdict));
  const durationMs = Math.round(clock.monotonicMs() - startedMs);
  const report = buildReport(
    redactDeep({ startedAt, durationMs, generator, server, suites, verdict }, context.redactor),
  );
  return { report, exitCode: chooseExitCode(verdict, watch.stop) };
}

/** Opens everything the suites need, in the order of the data flow; it is closed in reverse on every way out. */
async function runSuites(
  plan: GatePlan,
  context: GateContext,
  watch: Watch,
): Promise<{ server: ServerReport | null; results: SuiteResults[] }> {
  const results: SuiteResults[] = [];
  let server: ServerReport | null = null;
  try {
    await using running = await startServer(plan, context, watch);
    server = running.report;
    await using client = await connectEmbeddedService(plan, context);
    const [project] = await listProjects(client, { signal: watch.callOff });
    if (project === undefined) throw new NetworkError('The eval service shows no project to this key.');
    const record = await createServer(client, {
      projectId: project.id,
      server: { name: 'server-under-test', enabled: true, transportType: 'http', url: running.url },
      signal: watch.callOff,
    });
    const onProgress = context.onProgress ?? (() => {});
    for (const planned of plan.suites) {
      results.push(await runSuite(planned, { client, projectId: project.id, server: record, watch, onProgress }));
    }
    if (results.some((suite) => judgeSuite(suite).outcome !== 'passed')) {
      showLastWords(context.logger, running.stderrTail());
    }
  } catch (error) {
    const interruption = explainInterruption(error);
    if (error instanceof ServerStartError) showLastWords(context.logger, error.stderrTail);
    const end = { run: null, isComplete: false, interruption };
    results.push(...plan.suites.slice(results.length).map((planned) => createPlannedTally(planned).finish(end)));
  }
  return { server, results };
}

async function startServer(plan: GatePlan, context: GateContext, watch: Watch): Promise<RunningServer> {
  const { clock, logger, redactor, environment, processMarker } = context;
  const onProgress = context.onProgress ?? (() => {});
  const startedMs = clock.monotonicMs();
  const { command, url, cwd, readyTimeoutMs } = plan.server;
  for (const secret of plan.server.secrets) redactor.add(secret);
  onProgress({ kind: 'server-starting' });
  // A chunk of its own: the MCP SDK is half of what there would be to read before anything happens.
  const { openServer } = await import('../server/open.ts');
  const running = await openServer(
    {
      command,
      url,
      cwd,
      env: Object.fromEntries([...plan.server.environment].map(([name, value]) => [name, value.reveal()])),
      readyTimeoutMs,
      isolation: plan.isolation,
      spares: concurrency,
      sessions: countSessions(plan),
      ...(processMarker === undefined ? {} : { sessionMarker: processMarker }),
    },
    { clock, logger, signal: watch.callOff, environment },
  );
  for (const secret of running.secrets) redactor.add(secret);
  watch.addReason(running.lost);
  onProgress({ kind: 'server-ready', server: running.report, durationMs: clock.monotonicMs() - startedMs });
  return running;
}

/** One per iteration, and one per suite with which the service sees whether the server is there. */
function countSessions({ suites }: GatePlan): number {
  return suites.reduce(
    (sum, { suite }) => sum + 1 + suite.cases.reduce((runs, testCase) => runs + testCase.runs, 0),
    0,
  );
}

/** Opens the eval service inside this process, and the client that alone may speak to it. */
async function connectEmbeddedService(plan: GatePlan, context: GateContext): Promise<ServiceClient> {
  const { clock, logger, redactor } = context;
  // A chunk of its own: hosted runs never need the engine or the store, and start without reading them.
  const { localLimits, openEmbeddedService } = await import('../embedded/open.ts');
  const service = await openEmbeddedService({
    clock,
    logger,
    concurrency: plan.isolation === 'run' ? 1 : concurrency,
    limits: localLimits,
    runTimeoutMs: plan.timeoutMs,
  });
  redactor.add(service.apiKey);
  const client = openServiceClient({
    baseUrl: service.baseUrl,
    apiKey: service.apiKey,
    profile: serviceProfiles.embedded,
    clock,
    logger,
  });
  return {
    ...client,
    [Symbol.asyncDispose]: async () => {
      await client[Symbol.asyncDispose]();
      await service[Symbol.asyncDispose]();
    },
  };
}

function createPlannedTally({ suite, minimumPassRate, minimumPassRateSource }: PlannedSuite): Tally {
  return createTally(suite, { minimumPassRate, minimumPassRateSource, caseIds: new Map() });
}

function showLastWords(logger: Logger, lines: readonly string[]): void {
  if (lines.length > 0) logger.group('Last lines of the server’s stderr', lines);
}

function chooseExitCode({ outcome }: Verdict, stop: AbortSignal): GateResult['exitCode'] {
  if (stop.reason instanceof CancelledError) return stop.reason.exitCode;
  const exitCodes = { passed: 0, failed: 1, inconclusive: 3 } as const;
  return exitCodes[outcome];
}
