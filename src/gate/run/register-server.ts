import { race } from '../../base/time.ts';
import { ConfigurationError, ServiceError } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import type { Clock } from '../../base/time.ts';
import { isLoopback } from '../../http/url.ts';
import type { Redactor } from '../../base/redaction.ts';
import type { RunningServer } from '../../server/running-server.ts';
import { createServer } from '../../service/servers.ts';
import type { ConnectedService } from './connect-service.ts';
import type { RegisteredServer } from './job-tunnel.ts';
import { clearServer, type RemoteServer } from './cleanup-journal.ts';
import type { GatePlan } from '../plan/plan.ts';
import type { ProgressListener } from './progress.ts';
import type { Teardown } from './teardown.ts';
import type { RunLifetime } from './run-lifetime.ts';

export interface RegisterContext {
  service: ConnectedService;
  teardown: Teardown;
  lifetime: RunLifetime;
  clock: Clock;
  logger: Logger;
  redactor: Redactor;
  onProgress: ProgressListener;
}

/**
 * Makes the server of this job known to the service: through a tunnel, or by the URL where it listens. A tunnel that is
 * lost cancels the run.
 *
 * @throws {ConfigurationError} when the project has another server of that name
 */
export async function registerServer(
  running: RunningServer,
  { service: plan }: Pick<GatePlan, 'service'>,
  context: RegisterContext,
): Promise<RegisteredServer> {
  const { service, teardown, lifetime, clock, onProgress } = context;
  const { serverName, isOwnServerName, isTunnelled, hosted } = plan;
  if (!isTunnelled) return await createRecord(running.url, plan, context);
  const startedMs = clock.monotonicMs();
  onProgress({ kind: 'tunnel-opening', serverName });
  // Loaded lazily: most gates open no tunnel.
  const { openJobTunnel } = await import('./job-tunnel.ts');
  const tunnel = await openJobTunnel({
    service,
    serverName,
    isOwnServerName,
    isServiceLocal: hosted === null || isLoopback(new URL(hosted.baseUrl).hostname),
    targetUrl: running.url,
    // The service in this process is the only other client, and notices itself when the server does not answer.
    isOneAtATime: hosted === null || running.report.isolation === 'one process for the run',
    proxy: hosted?.proxy,
    teardown,
    clock,
    logger: context.logger,
    redactor: context.redactor,
    signal: lifetime.cancelRun,
  });
  lifetime.cancelOn(tunnel.lost);
  onProgress({ kind: 'tunnel-ready', serverName, durationMs: clock.monotonicMs() - startedMs });
  return tunnel;
}

async function createRecord(
  url: string,
  { serverName: name, isOwnServerName }: GatePlan['service'],
  { service, teardown, lifetime }: { service: ConnectedService; teardown: Teardown; lifetime: RunLifetime },
): Promise<RegisteredServer> {
  const { client, urgentClient, projectId, journal } = service;
  /** Null if this job has nothing to clear. */
  let remote: RemoteServer | null = { name, serverId: null, hasTunnel: false, isOwn: true, previous: null };
  const note = (next: RemoteServer | null) => {
    remote = next;
    // A name that others use too must not be cleared by the name alone.
    if (next?.serverId !== null || isOwnServerName) journal.setServer(next);
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
    return { id: await race(creating, { signals: [lifetime.cancelRun] }), name, countBreaks: () => 0 };
  } catch (error) {
    if (!(error instanceof ServiceError && error.status === 409)) throw error;
    const message = 'is taken by another server of the project; choose another, or leave it out';
    throw new ConfigurationError([{ input: 'server-name', code: 'server-name-taken', message }], { cause: error });
  }
}
