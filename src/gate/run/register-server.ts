import { endOnAbort } from '../../base/time.ts';
import { ConfigurationError, ServiceError } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import type { Clock } from '../../base/time.ts';
import { isLoopback } from '../../base/loopback.ts';
import type { Redactor } from '../../base/redaction.ts';
import type { RunningServer } from '../../server/running-server.ts';
import { createServer } from '../../service/servers.ts';
import type { ConnectedService } from './connect-service.ts';
import type { RegisteredServer } from './job-tunnel.ts';
import { clearServer, type ServerLeftover } from './leftovers.ts';
import type { GatePlan } from '../plan/plan.ts';
import type { ProgressListener } from './progress.ts';
import type { Teardown } from './teardown.ts';
import type { Watch } from './watch.ts';

export interface RegisterContext {
  service: ConnectedService;
  teardown: Teardown;
  watch: Watch;
  clock: Clock;
  logger: Logger;
  redactor: Redactor;
  onProgress: ProgressListener;
}

/**
 * Makes the server of this job known to the service: through a tunnel, or by the URL where it listens. A tunnel that is
 * lost calls the run off.
 *
 * @throws {ConfigurationError} when the project has another server of that name
 */
export async function registerServer(
  running: RunningServer,
  { service: plan }: Pick<GatePlan, 'service'>,
  context: RegisterContext,
): Promise<RegisteredServer> {
  const { service, teardown, watch, clock, onProgress } = context;
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
    signal: watch.callOff,
  });
  watch.addReason(tunnel.lost);
  onProgress({ kind: 'tunnel-ready', serverName, durationMs: clock.monotonicMs() - startedMs });
  return tunnel;
}

async function createRecord(
  url: string,
  { serverName: name, isOwnServerName }: GatePlan['service'],
  { service, teardown, watch }: { service: ConnectedService; teardown: Teardown; watch: Watch },
): Promise<RegisteredServer> {
  const { client, urgentClient, projectId, leftovers } = service;
  /** Null if this job has nothing to clear. */
  let leftover: ServerLeftover | null = { name, serverId: null, hasTunnel: false, isOwn: true, previous: null };
  const note = (next: ServerLeftover | null) => {
    leftover = next;
    // A name that others use too must not be cleared by the name alone.
    if (next?.serverId !== null || isOwnServerName) leftovers.setServer(next);
  };
  const first = leftover;
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
    await endOnAbort(
      creating.catch(() => {}),
      signal,
    );
    const clearing = isHurried ? urgentClient : client;
    if (leftover !== null) await clearServer(clearing, leftover, { projectId, signal });
    note(null);
  });
  try {
    return { id: await endOnAbort(creating, watch.callOff), name, countBreaks: () => 0 };
  } catch (error) {
    if (!(error instanceof ServiceError && error.status === 409)) throw error;
    const message = 'is taken by another server of the project; choose another, or leave it out';
    throw new ConfigurationError([{ input: 'server-name', code: 'server-name-taken', message }], { cause: error });
  }
}
