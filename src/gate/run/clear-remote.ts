import type { Clock } from '../../base/time.ts';
import { ServiceError } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import { unlimitedPacer } from '../../base/pacing.ts';
import type { ProxySettings } from '../../http/proxy.ts';
import type { Secret } from '../../base/redaction.ts';
import { openServiceClient, type ServiceClient } from '../../service/client.ts';
import { findRunByMarker } from '../../service/launch.ts';
import type { ServiceProfile } from '../../service/profile.ts';
import { stopRun } from '../../service/run-client.ts';
import { callOperation } from '../../service/call-operation.ts';
import { type ServerChanges, serverOperations } from '../../service/operations/servers.ts';
import { tunnelOperations } from '../../service/operations/tunnels.ts';
import { createTeardown } from './run-lifetime.ts';
import type { RemoteResources, RemoteRun, RemoteServer } from './cleanup-journal.ts';

/**
 * Cancels a run if it has not ended. If the service never answered its creation, searches for the run, since it may exist.
 * Resolves to false if it was not found before the signal aborted.
 */
export async function endRun(
  client: ServiceClient,
  { runId, suiteId, marker }: RemoteRun,
  options: { projectId: string; signal: AbortSignal },
): Promise<boolean> {
  const findRun = async () => (await findRunByMarker(client, { ...options, suiteId, marker }))?.id;
  const found = runId ?? (await findPatiently(client, options.signal, findRun));
  if (found === undefined) return false;
  await stopRun(client, { ...options, runId: found });
  return true;
}

const searchIntervalMs = 500;

/** Searches again and again until the signal aborts: the request may still be in the network, or the service busy with it. */
async function findPatiently(
  { clock }: ServiceClient,
  signal: AbortSignal,
  find: () => Promise<string | undefined>,
): Promise<string | undefined> {
  for (;;) {
    const found = await find();
    if (found !== undefined) return found;
    await clock.sleep(searchIntervalMs, { signal }).catch(() => {});
    if (signal.aborted) return undefined;
  }
}

/**
 * Closes the tunnel of a server, and deletes its record or restores the record's earlier content. Searches by name for a server whose
 * creation was never answered, unless others use the name, too: the tunnel may be another job's.
 */
export async function clearServer(
  client: ServiceClient,
  { serverId: knownId, name, hasTunnel, isOwn, previous }: RemoteServer,
  { projectId, signal }: { projectId: string; signal: AbortSignal },
): Promise<void> {
  if (knownId === null && !isOwn) return;
  const findServer = async () => {
    const { items } = await callOperation(client, serverOperations.listProjectServers, { projectId }, { signal });
    return items.find((server) => server.name === name)?.id;
  };
  const serverId = knownId ?? (await findPatiently(client, signal, findServer));
  if (serverId === undefined) return;
  const place = { projectId, serverId };
  const urgent = { priority: 'high', signal } as const;
  try {
    if (hasTunnel) await callOperation(client, tunnelOperations.closeTunnel, place, urgent);
    if (isOwn) await callOperation(client, serverOperations.deleteProjectServer, place, urgent);
    else if (previous !== null) {
      const changes = { ...toServerChanges(previous), ...place };
      await callOperation(client, serverOperations.updateProjectServer, changes, urgent);
    }
  } catch (error) {
    // Another process has cleared it already.
    if (!(error instanceof ServiceError && error.status === 404)) throw error;
  }
}

function toServerChanges({ url, transportType }: NonNullable<RemoteServer['previous']>): ServerChanges {
  return { url, ...(transportType === 'http' || transportType === 'stdio' ? { transportType } : {}) };
}

/** Clears what a process left that could not clear up itself. May be called any number of times. */
export async function clearRemoteResources(
  { projectId, servers, runs }: RemoteResources,
  {
    profile,
    ...context
  }: {
    profile: ServiceProfile;
    baseUrl: string;
    apiKey: Secret;
    proxy: ProxySettings;
    clock: Clock;
    logger: Logger;
  },
): Promise<void> {
  await using client = openServiceClient({
    ...context,
    profile,
    pacer: unlimitedPacer,
  });
  await using teardown = createTeardown(context);
  for (const server of servers) {
    teardown.add(`close the tunnel of ${server.name}`, (signal) => clearServer(client, server, { projectId, signal }));
  }
  for (const run of runs) {
    teardown.add(`cancel the run ${run.runId ?? 'of this job'}`, async (signal) => {
      await endRun(client, run, { projectId, signal });
    });
  }
}
