import type { Clock } from '../../base/time.ts';
import type { Logger } from '../../base/logger.ts';
import type { Redactor } from '../../base/redaction.ts';
import { maxConcurrency } from '../../model/concurrency.ts';
import type { RunningServer, SessionPlan, WantedProtocol } from '../../server/running-server.ts';
import type { PlannedServer } from '../plan/plan-server.ts';
import type { ProgressListener } from './progress.ts';
import type { Teardown } from './teardown.ts';
import type { RunLifetime } from './run-lifetime.ts';

/** Sessions of iterations that have just ended, and of probes that ask whether the server answers. */
const otherSessions = 32;

export interface StartServerContext {
  clock: Clock;
  logger: Logger;
  redactor: Redactor;
  environment: Readonly<Record<string, string | undefined>>;
  processMarker?: string;
  onProgress: ProgressListener;
  lifetime: RunLifetime;
  teardown: Teardown;
}

/**
 * Starts the server under test, or finds the one that runs already, and resolves once it has answered. The teardown stops
 * it; when it is lost before, the run is cancelled.
 *
 * @throws {ServerStartError} when it does not answer
 * @throws {SandboxError} when this machine cannot isolate it as the plan requires
 */
export async function startServer(
  { command, url, cwd, environment: variables, readyTimeoutMs, sandbox }: PlannedServer,
  {
    isolation,
    protocol,
    sessions,
    isWitnessed,
  }: { isolation: 'iteration' | 'run'; protocol: WantedProtocol; sessions: SessionPlan; isWitnessed: boolean },
  context: StartServerContext,
): Promise<RunningServer> {
  const { clock, logger, redactor, environment, processMarker, lifetime, teardown, onProgress } = context;
  const startedMs = clock.monotonicMs();
  onProgress({ kind: 'server-starting' });
  // Loaded lazily: a dry run, and a hosted gate without a server, need neither the bridge nor the MCP SDK.
  const { openServer } = await import('../../server/open.ts');
  const running = await openServer(
    {
      command,
      url,
      cwd,
      env: Object.fromEntries([...variables].map(([name, value]) => [name, value.reveal()])),
      readyTimeoutMs,
      isolation,
      protocol,
      isWitnessed,
      sessions,
      maxSessions: maxConcurrency + otherSessions,
      ...(sandbox === null ? {} : { sandbox }),
      ...(processMarker === undefined ? {} : { sessionMarker: processMarker }),
    },
    { clock, logger, signal: lifetime.cancelRun, environment },
  );
  teardown.add('stop the server', async () => await running[Symbol.asyncDispose]());
  for (const secret of running.secrets) redactor.add(secret);
  lifetime.cancelOn(running.lost);
  onProgress({ kind: 'server-ready', server: running.report, durationMs: clock.monotonicMs() - startedMs });
  return running;
}
