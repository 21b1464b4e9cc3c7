import { race } from '../../base/time.ts';
import { ConfigurationError, ServerStartError, TunnelError } from '../../base/errors.ts';
import type { ProxySettings } from '../../http/proxy.ts';
import type { ServerAccess } from '../../mcp/access.ts';
import { maxConcurrency } from '../../model/concurrency.ts';
import { serverUnderTest } from '../../cases/step-server.ts';
import type {
  RunningServer,
  ServerUpstream,
  ServerWorkspaces,
  SessionPlan,
  WantedProtocol,
} from '../../server/running-server.ts';
import type { SandboxOptions } from '../../server/sandbox/open-sandbox.ts';
import type { SideDirectories } from '../../server/side-directories.ts';
import type { PlannedServer } from '../plan/plan-server.ts';
import type { ServerRegistration, ServerScope } from './server-scope.ts';
import type { JobTunnel, JobTunnelOptions, TunnelGrants } from './job-tunnel.ts';

/** Sessions of iterations that have just ended, and of probes that check whether the server answers. */
const otherSessions = 32;

interface ServerUse {
  isolation: 'iteration' | 'run';
  protocol: WantedProtocol;
  /** True if it was started before, for another revision. */
  isAgain: boolean;
  sessions: SessionPlan;
  isWitnessed: boolean;
  /** The credentials for requests to the server; null if it needs none. */
  access: ServerAccess | null;
  environment: Readonly<Record<string, string | undefined>>;
  processMarker?: string | undefined;
  /** True if no other process may answer at its port. */
  ownsPort?: boolean;
  /** Null for a server that is not compared with another one. */
  side?: SideDirectories | null;
  /** The places in which iterations work; null without one. */
  workspaces?: ServerWorkspaces | null;
  /** The recordings that answer its requests; null if these go to the network. */
  upstream?: ServerUpstream | null;
  /** Resolves when no run uses the server any more. */
  waitForRuns: () => Promise<void>;
}

/** Opens the credentials for requests to the server, which all parts of the gate share; null if it needs none. */
export async function openServerAccess(
  { url, access }: Pick<PlannedServer, 'url' | 'access'>,
  { clock, redactor }: Pick<ServerScope, 'clock' | 'redactor'>,
): Promise<ServerAccess | null> {
  if (url === null || access === null) return null;
  const { openAccess } = await import('../../server/open-server.ts');
  return await openAccess({ url, ...access }, { clock, onSecret: (secret) => redactor.add(secret) });
}

/**
 * Starts the server under test, or finds the one that runs already, and resolves when it has answered. The teardown stops it; if it is lost
 * before, the run is cancelled.
 *
 * @throws {ServerStartError} if it does not answer
 * @throws {SandboxError} if this machine cannot isolate it as the plan requires
 */
export async function startServer(
  { name, command, url, inProcess, isSse, cwd, environment: variables, readyTimeoutMs, sandbox }: PlannedServer,
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
    workspaces = null,
    upstream = null,
    waitForRuns,
  }: ServerUse,
  { lifetime, teardown, clock, logger, redactor, onProgress }: ServerScope,
): Promise<RunningServer> {
  const startedMs = clock.monotonicMs();
  onProgress({ kind: 'server-starting', name, revision: isAgain ? protocol.value : null });
  // Loaded lazily: a dry run, and a hosted gate without a server, need neither the bridge nor the MCP SDK.
  const { openServer } = await import('../../server/open-server.ts');
  const running = await openServer(
    {
      command,
      url,
      inProcess: inProcess ?? null,
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
      workspaces,
      upstream,
      ...(sandbox === null ? {} : { sandbox: openTo(sandbox, workspaces) }),
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

/** Lets the server write to its places. */
function openTo(sandbox: SandboxOptions, workspaces: ServerWorkspaces | null): SandboxOptions {
  return workspaces === null ? sandbox : { ...sandbox, writable: [...sandbox.writable, workspaces.places.root] };
}

/** Adds to an error which server of `mcp-config` failed, or the tunnel to it. */
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

/** The grants of a tunnel to a server, and how the tunnel is checked. */
export interface TunnelUse extends ServerRegistration {
  grants: TunnelGrants;
  journal: JobTunnelOptions['journal'];
  isOwnServerName: boolean;
  /** True if the service itself is on this machine. */
  isServiceLocal: boolean;
  /** True if every handshake waits for the one before it: a handshake during a run would then only measure that wait. */
  isOneAtATime: boolean;
  proxy: ProxySettings | undefined;
}

/**
 * Opens a tunnel to the server of this job. A lost tunnel cancels the run.
 *
 * @throws {ConfigurationError} if the project has another server of that name, or if no tunnel can carry the server's protocol
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
    targetUrl: await running.openUrl(),
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

/** Refuses HTTP+SSE: such a server announces the address for posts as a path of its own, and the relay serves it below another path. */
function refuseTunnel(): ConfigurationError {
  const message =
    'is a server over HTTP+SSE, the transport of MCP 2024-11-05, which no tunnel can carry; have it serve streamable HTTP or stdio, or use `service: embedded` with `tunnel: auto`';
  return new ConfigurationError([{ input: 'server-url', code: 'sse-through-tunnel', message }]);
}
