import { z } from 'zod';
import type { Clock } from '../../base/time.ts';
import { ServiceError } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import { unlimitedPacer } from '../../base/pacing.ts';
import type { ProxySettings } from '../../http/proxy.ts';
import type { Secret } from '../../base/redaction.ts';
import { openServiceClient, type ServiceClient } from '../../service/client.ts';
import { findRunByMarker } from '../../service/launch.ts';
import type { ServiceProfile } from '../../service/profile.ts';
import { stopRun } from '../../service/runs.ts';
import { deleteServer, listServers, type NewServer, updateServer } from '../../service/servers.ts';
import { closeTunnel } from '../../service/tunnels.ts';
import { createTeardown } from './run-lifetime.ts';

const remoteRunSchema = z.object({
  suiteId: z.string(),
  /** Null while the service has not answered. */
  runId: z.string().nullable(),
  /** Stands in the run's notes, so that it can be found without its id. */
  marker: z.string(),
});

const remoteServerSchema = z.object({
  name: z.string(),
  /** Null while the service has not answered. */
  serverId: z.string().nullable(),
  hasTunnel: z.boolean(),
  /** Whether the record is this job's alone, and goes with it. */
  isOwn: z.boolean(),
  /** What the record said before; only where that holds no secret. */
  previous: z.object({ url: z.string(), transportType: z.string().nullable() }).nullable(),
});

const remoteResourcesSchema = z.object({
  projectId: z.string(),
  servers: z.array(remoteServerSchema),
  runs: z.array(remoteRunSchema),
});

/**
 * What this job has in a hosted service and does not leave there. Ids only: it is written down, so that another process can
 * clear it, into a file that the server under test can write to as well. Where the service is stands in the options alone.
 */
export type RemoteResources = z.output<typeof remoteResourcesSchema>;
export type RemoteRun = z.output<typeof remoteRunSchema>;
export type RemoteServer = z.output<typeof remoteServerSchema>;

/** Keeps the cleanup journal, and has it written down with every change. */
export interface CleanupJournal {
  /** Adds a server, or replaces what is known of the one with the same name. */
  setServer(server: RemoteServer): void;
  removeServer(name: string): void;
  /** Adds a run, or replaces what is known of the one with the same marker. */
  setRun(run: RemoteRun): void;
  removeRun(marker: string): void;
}

/** `save` gets the whole list with every change, and null once there is nothing left. */
export function openCleanupJournal(
  ids: Pick<RemoteResources, 'projectId'>,
  save: (resources: RemoteResources | null) => void,
): CleanupJournal {
  const servers = new Map<string, RemoteServer>();
  const runs = new Map<string, RemoteRun>();
  const saveAll = () => {
    const isEmpty = servers.size === 0 && runs.size === 0;
    save(isEmpty ? null : { ...ids, servers: [...servers.values()], runs: [...runs.values()] });
  };
  return {
    setServer: (server) => {
      servers.set(server.name, server);
      saveAll();
    },
    removeServer: (name) => {
      servers.delete(name);
      saveAll();
    },
    setRun: (run) => {
      runs.set(run.marker, run);
      saveAll();
    },
    removeRun: (marker) => {
      runs.delete(marker);
      saveAll();
    },
  };
}

/** For what ends with this process. */
export const noCleanupJournal: CleanupJournal = {
  setServer: () => {},
  removeServer: () => {},
  setRun: () => {},
  removeRun: () => {},
};

/** Reads a list that was written down; null where it is none. */
export function parseRemoteResources(text: string): RemoteResources | null {
  try {
    return remoteResourcesSchema.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

/**
 * Cancels a run if it has not ended. One whose creation was never answered is looked for, since it may exist all the same.
 * Resolves to false when it was not found before the signal aborted.
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

/** Looks again and again until the signal aborts: the service may still be busy with the request, or the network with it. */
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
 * Closes the tunnel of a server; takes its record away, or has it say again what it said before. One whose creation was
 * never answered is looked for by its name, unless others use the name too: it may be the tunnel of another job.
 */
export async function clearServer(
  client: ServiceClient,
  { serverId: knownId, name, hasTunnel, isOwn, previous }: RemoteServer,
  options: { projectId: string; signal: AbortSignal },
): Promise<void> {
  if (knownId === null && !isOwn) return;
  const findServer = async () => (await listServers(client, options)).find((server) => server.name === name)?.id;
  const serverId = knownId ?? (await findPatiently(client, options.signal, findServer));
  if (serverId === undefined) return;
  try {
    if (hasTunnel) await closeTunnel(client, { ...options, serverId });
    if (isOwn) await deleteServer(client, { ...options, serverId });
    else if (previous !== null)
      await updateServer(client, { ...options, serverId, changes: toServerChanges(previous) });
  } catch (error) {
    // Another process has cleared it, which is as good.
    if (!(error instanceof ServiceError && error.status === 404)) throw error;
  }
}

function toServerChanges({ url, transportType }: NonNullable<RemoteServer['previous']>): Partial<NewServer> {
  return { url, ...(transportType === 'http' || transportType === 'stdio' ? { transportType } : {}) };
}

/** Clears what a process left that could not do so itself. May be called any number of times. */
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
