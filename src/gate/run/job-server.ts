import { race } from '../../base/time.ts';
import { ConfigurationError, ServerStartError, TunnelError } from '../../base/errors.ts';
import type { ProxySettings } from '../../http/proxy.ts';
import type { ServerAccess } from '../../mcp/access.ts';
import { maxConcurrency } from '../../model/concurrency.ts';
import { serverUnderTest } from '../../model/step-server.ts';
import type { RunningServer, SessionPlan, WantedProtocol } from '../../server/running-server.ts';
import type { SideDirectories } from '../../server/side-directories.ts';
import type { PlannedServer } from '../plan/plan-server.ts';
import type { ServerRegistration, ServerScope } from './server-scope.ts';
import type { JobTunnel, JobTunnelOptions, TunnelGrants } from './job-tunnel.ts';

/** Sessions of iterations that have just ended, and of probes that ask whether the server answers. */
const otherSessions = 32;

interface ServerUse {
  isolation: 'iteration' | 'run';
  protocol: WantedProtocol;
  /** Whether it was started before, for another revision. */
  isAgain: boolean;
  sessions: SessionPlan;
  isWitnessed: boolean;
  /** What lets requests to the server in; null where it lets in every one. */
  access: ServerAccess | null;
  environment: Readonly<Record<string, string | undefined>>;
  processMarker?: string | undefined;
  /** Whether no other process may answer at its port. */
  ownsPort?: boolean;
  /** Null for a server that is compared with no other one. */
  side?: SideDirectories | null;
  /** Resolves once no run uses the server any more. */
  waitForRuns: () => Promise<void>;
}

/** Opens what lets requests to the server in, for everything in the gate that sends one. Null where it lets in every one. */
export async function openServerAccess(
  { url, access }: Pick<PlannedServer, 'url' | 'access'>,
  { clock, redactor }: Pick<ServerScope, 'clock' | 'redactor'>,
): Promise<ServerAccess | null> {
  if (url === null || access === null) return null;
  const { openAccess } = await import('../../server/open.ts');
  return await openAccess({ url, ...access }, { clock, onSecret: (secret) => redactor.add(secret) });
}

/**
 * Starts the server under test, or finds the one that runs already, and resolves once it has answered. The teardown stops
 * it; when it is lost before, the run is cancelled.
 *
 * @throws {ServerStartError} when it does not answer
 * @throws {SandboxError} when this machine cannot isolate it as the plan requires
 */
export async function startServer(
  { name, command, url, isSse, cwd, environment: variables, readyTimeoutMs, sandbox }: PlannedServer,
  {
    isolation,
    protocol,
    isAgain,
    sessions,
    isWitnessed,
    access,
    environment,
    processMarker,
    side = null,
    ownsPort = false,
    waitForRuns,
  }: ServerUse,
  { lifetime, teardown, clock, logger, redactor, onProgress }: ServerScope,
): Promise<RunningServer> {
  const startedMs = clock.monotonicMs();
  onProgress({ kind: 'server-starting', name, revision: isAgain ? protocol.value : null });
  // Loaded lazily: a dry run, and a hosted gate without a server, need neither the bridge nor the MCP SDK.
  const { openServer } = await import('../../server/open.ts');
  const running = await openServer(
    {
      command,
      url,
      isSse,
      cwd,
      env: Object.fromEntries([...variables].map(([name, value]) => [name, value.reveal()])),
      readyTimeoutMs,
      isolation,
      protocol,
      isWitnessed,
      access,
      sessions,
      maxSessions: maxConcurrency + otherSessions,
      side,
      ownsPort,
      ...(sandbox === null ? {} : { sandbox }),
      ...(processMarker === undefined ? {} : { sessionMarker: processMarker }),
    },
    { clock, logger, signal: lifetime.cancelRun, environment },
  ).catch((error: unknown) => {
    throw nameFailure(error, name);
  });
  teardown.add('stop the server', async (timeIsUp) => {
    // The teardown of a case may still run commands in the sandbox of the server.
    await race(waitForRuns(), { signals: [timeIsUp] }).catch(() => {});
    await running[Symbol.asyncDispose]();
  });
  for (const secret of running.secrets) redactor.add(secret);
  lifetime.cancelOn(running.lost.then((error) => nameFailure(error, name)));
  onProgress({ kind: 'server-ready', name, server: running.report, durationMs: clock.monotonicMs() - startedMs });
  return running;
}

/** Says which server of `mcp-config` failed, or the tunnel to it. */
function nameFailure<Failure>(error: Failure, name: string | null): Failure | ServerStartError | TunnelError {
  if (name === null) return error;
  if (error instanceof TunnelError) {
    const { message, hint, closeCode, exitCode } = error;
    return new TunnelError(`${name}: ${message}`, { hint, closeCode, isConfiguration: exitCode === 2, cause: error });
  }
  if (!(error instanceof ServerStartError)) return error;
  const { message, hint, stderrTail, findings } = error;
  return new ServerStartError(`${name}: ${message}`, { stderrTail, findings, hint, cause: error });
}

/** Whose tunnel leads to a server, and how it is checked. */
export interface TunnelUse extends ServerRegistration {
  grants: TunnelGrants;
  journal: JobTunnelOptions['journal'];
  isOwnServerName: boolean;
  /** Whether the service itself is on this machine. */
  isServiceLocal: boolean;
  /** Whether every handshake waits for the one before it, so that asking for one during a run would only measure that. */
  isOneAtATime: boolean;
  proxy: ProxySettings | undefined;
}

/**
 * Leads a tunnel to the server of this job. A tunnel that is lost cancels the run.
 *
 * @throws {ConfigurationError} when the project has another server of that name, or no tunnel can carry what the server speaks
 */
export async function openServerTunnel(
  running: RunningServer,
  use: TunnelUse,
  { lifetime, teardown, clock, logger, redactor, onProgress }: ServerScope,
): Promise<JobTunnel> {
  if (running.report.transport === 'sse') throw refuseTunnel();
  const { serverName, alias } = use;
  const startedMs = clock.monotonicMs();
  onProgress({ kind: 'tunnel-opening', serverName });
  // Loaded lazily: most gates open no tunnel.
  const { openJobTunnel } = await import('./job-tunnel.ts');
  const label = alias === serverUnderTest ? null : alias;
  const tunnel = await openJobTunnel({
    ...use,
    targetUrl: running.url,
    explainRefusal: (...asked) => running.explainRefusal(...asked),
    teardown,
    clock,
    logger,
    redactor,
    signal: lifetime.cancelRun,
  }).catch((error: unknown) => {
    throw nameFailure(error, label);
  });
  lifetime.cancelOn(tunnel.lost.then((error) => nameFailure(error, label)));
  onProgress({ kind: 'tunnel-ready', serverName, durationMs: clock.monotonicMs() - startedMs });
  return tunnel;
}

/** The server announces where to post as a path of its own, and the relay serves it below another one. */
function refuseTunnel(): ConfigurationError {
  const message =
    'is a server over HTTP+SSE, the transport of MCP 2024-11-05, which no tunnel can carry; have it serve streamable HTTP or stdio, or use `service: embedded` with `tunnel: auto`';
  return new ConfigurationError([{ input: 'server-url', code: 'sse-through-tunnel', message }]);
}
