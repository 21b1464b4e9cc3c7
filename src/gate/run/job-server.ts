import { type Clock, race } from '../../base/time.ts';
import { ConfigurationError, ServerStartError, ServiceError, TunnelError } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import { isLoopback } from '../../http/url.ts';
import type { Redactor } from '../../base/redaction.ts';
import type { ServerAccess } from '../../mcp/access.ts';
import { maxConcurrency } from '../../model/concurrency.ts';
import { serverUnderTest } from '../../model/step-server.ts';
import type { RunningServer, SessionPlan, WantedProtocol } from '../../server/running-server.ts';
import type { SideDirectories } from '../../server/side-directories.ts';
import { createServer } from '../../service/servers.ts';
import type { PlannedServer } from '../plan/plan-server.ts';
import type { PlannedService } from '../plan/plan-service.ts';
import { clearServer, type RemoteServer } from './cleanup-journal.ts';
import type { ConnectedService } from './connect-service.ts';
import type { RegisteredServer } from './job-tunnel.ts';
import type { ProgressListener } from './progress.ts';
import type { RunLifetime, Teardown } from './run-lifetime.ts';

/** Sessions of iterations that have just ended, and of probes that ask whether the server answers. */
const otherSessions = 32;

/** What the server under test ends with, and where its progress is reported. */
export interface ServerScope {
  lifetime: RunLifetime;
  teardown: Teardown;
  clock: Clock;
  logger: Logger;
  redactor: Redactor;
  onProgress: ProgressListener;
}

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
  /** Resolves once no run uses the server any more; null where that is not known. */
  waitForRuns: (() => Promise<void>) | null;
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
    if (waitForRuns !== null) await race(waitForRuns(), { signals: [timeIsUp] }).catch(() => {});
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

/**
 * Makes the server of this job known to the service: through a tunnel, or by the URL where it listens. A tunnel that is
 * lost cancels the run.
 *
 * @throws {ConfigurationError} when the project has another server of that name, or no tunnel can carry what the server speaks
 */
export async function registerServer(
  running: RunningServer,
  { serverName, isOwnServerName, isTunnelled, hosted, alias }: PlannedService & { alias: string },
  { service, access, ...scope }: ServerScope & { service: ConnectedService; access: ServerAccess | null },
): Promise<RegisteredServer> {
  const { lifetime, teardown, clock, logger, redactor, onProgress } = scope;
  if (!isTunnelled)
    return await createRecord(running, { serverName, isOwnServerName, alias }, { service, teardown, lifetime });
  if (running.report.transport === 'sse') throw refuseTunnel();
  const startedMs = clock.monotonicMs();
  onProgress({ kind: 'tunnel-opening', serverName });
  // Loaded lazily: most gates open no tunnel.
  const { openJobTunnel } = await import('./job-tunnel.ts');
  const label = alias === serverUnderTest ? null : alias;
  const tunnel = await openJobTunnel({
    service,
    serverName,
    alias,
    isOwnServerName,
    isServiceLocal: hosted === null || isLoopback(new URL(hosted.baseUrl).hostname),
    targetUrl: running.url,
    explainRefusal: (...asked) => running.explainRefusal(...asked),
    access,
    // The service in this process is the only other client, and notices itself when the server does not answer.
    isOneAtATime: hosted === null || running.report.isolation === 'one process for the run',
    proxy: hosted?.proxy,
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

async function createRecord(
  { url, explainRefusal }: Pick<RunningServer, 'url' | 'explainRefusal'>,
  {
    serverName: name,
    isOwnServerName,
    alias,
  }: Pick<PlannedService, 'serverName' | 'isOwnServerName'> & { alias: string },
  { service, teardown, lifetime }: { service: ConnectedService; teardown: Teardown; lifetime: RunLifetime },
): Promise<RegisteredServer> {
  const { client, urgentClient, projectId, journal } = service;
  /** Null if this job has nothing to clear. */
  let remote: RemoteServer | null = { name, serverId: null, hasTunnel: false, isOwn: true, previous: null };
  const note = (next: RemoteServer | null) => {
    remote = next;
    // A name that others use too must not be cleared by the name alone.
    if (next === null) journal.removeServer(name);
    else if (next.serverId !== null || isOwnServerName) journal.setServer(next);
  };
  const first = remote;
  const server = { name, enabled: true, transportType: 'http' as const, url };
  /** Not given up when the job is: a record that is made after that must be taken away all the same. */
  const create = async () => {
    try {
      const { id } = await createServer(client, { projectId, server });
      note({ ...first, serverId: id });
      return id;
    } catch (error) {
      const mayExist = isOwnServerName && !(error instanceof ServiceError && error.status < 500);
      if (!mayExist) note(null);
      throw error;
    }
  };
  note(first);
  const creating = create();
  teardown.add(`take ${name} out of the project`, async (signal, isHurried) => {
    await race(
      creating.catch(() => {}),
      { signals: [signal] },
    );
    const clearing = isHurried ? urgentClient : client;
    if (remote !== null) await clearServer(clearing, remote, { projectId, signal });
    note(null);
  });
  try {
    const id = await race(creating, { signals: [lifetime.cancelRun] });
    return { id, name, alias, countBreaks: () => 0, listRefusals: () => [], explainRefusal };
  } catch (error) {
    if (!(error instanceof ServiceError && error.status === 409)) throw error;
    const message = 'is taken by another server of the project; choose another, or leave it out';
    throw new ConfigurationError([{ input: 'server-name', code: 'server-name-taken', message }], { cause: error });
  }
}
