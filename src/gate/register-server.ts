import { ConfigurationError, ServiceError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type { Clock } from '../base/clock.ts';
import type { Redactor } from '../base/redaction.ts';
import type { RunningServer } from '../server/running-server.ts';
import { isLoopback } from '../service/address.ts';
import { createServer } from '../service/servers.ts';
import type { ConnectedService } from './connect-service.ts';
import { type RegisteredServer, openJobTunnel } from './job-tunnel.ts';
import { clearServer } from './leftovers.ts';
import type { GatePlan } from './plan.ts';
import type { ProgressListener } from './progress.ts';
import type { Teardown } from './teardown.ts';
import type { Watch } from './watch.ts';

/**
 * Makes the server of this job known to the service: through a tunnel, or by the URL where it listens. A tunnel that is
 * lost calls the run off.
 *
 * @throws {ConfigurationError} when the project has another server of that name
 */
export async function registerServer(
  running: RunningServer,
  { service: plan }: Pick<GatePlan, 'service'>,
  context: {
    service: ConnectedService;
    teardown: Teardown;
    watch: Watch;
    clock: Clock;
    logger: Logger;
    redactor: Redactor;
    onProgress: ProgressListener;
  },
): Promise<RegisteredServer> {
  const { service, teardown, watch, clock, onProgress } = context;
  const { serverName, isOwnServerName, isTunnelled, hosted } = plan;
  if (!isTunnelled) return await createRecord(running.url, serverName, context);
  const startedMs = clock.monotonicMs();
  onProgress({ kind: 'tunnel-opening', serverName });
  const tunnel = await openJobTunnel({
    service,
    serverName,
    isOwnServerName,
    isServiceLocal: hosted === null || isLoopback(new URL(hosted.baseUrl).hostname),
    targetUrl: running.url,
    isOneAtATime: running.report.isolation === 'one process for the run',
    proxy: hosted?.proxy,
    teardown,
    clock,
    logger: context.logger,
    redactor: context.redactor,
    signal: watch.callOff,
  });
  watch.addReason(tunnel.lost);
  onProgress({ kind: 'tunnel-ready', serverName, durationMs: clock.monotonicMs() - startedMs });
  return { id: tunnel.id, name: tunnel.name };
}

async function createRecord(
  url: string,
  name: string,
  { service, teardown, watch }: { service: ConnectedService; teardown: Teardown; watch: Watch },
): Promise<RegisteredServer> {
  const { client, urgentClient, projectId, leftovers } = service;
  try {
    const server = { name, enabled: true, transportType: 'http' as const, url };
    const { id: serverId } = await createServer(client, { projectId, server, signal: watch.callOff });
    const leftover = { name, serverId, hasTunnel: false, isOwn: true, previous: null };
    leftovers.setServer(leftover);
    teardown.add(`take ${name} out of the project`, async (signal) => {
      await clearServer(urgentClient, leftover, { projectId, signal });
      leftovers.setServer(null);
    });
    return { id: serverId, name };
  } catch (error) {
    if (!(error instanceof ServiceError && error.status === 409)) throw error;
    const message = 'is taken by another server of the project; choose another, or leave it out';
    throw new ConfigurationError([{ input: 'server-name', code: 'server-name-taken', message }], { cause: error });
  }
}
