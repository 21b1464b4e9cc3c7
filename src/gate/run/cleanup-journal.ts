import { z } from 'zod';

const remoteRunSchema = z.object({
  suiteId: z.string(),
  /** Null while the service has not answered. */
  runId: z.string().nullable(),
  /** A part of the run's notes, by which it can be found without its id. */
  marker: z.string(),
});

const remoteServerSchema = z.object({
  name: z.string(),
  /** Null while the service has not answered. */
  serverId: z.string().nullable(),
  hasTunnel: z.boolean(),
  /** True if only this job uses the record, which is then deleted with the tunnel. */
  isOwn: z.boolean(),
  /** The record's earlier content; only if that holds no secret. */
  previous: z.object({ url: z.string(), transportType: z.string().nullable() }).nullable(),
});

const remoteResourcesSchema = z.object({
  projectId: z.string(),
  servers: z.array(remoteServerSchema),
  runs: z.array(remoteRunSchema),
});

/**
 * The resources of this job in a hosted service that it must remove. They hold ids only: they are saved for another process, in a file that
 * the server under test can write to as well. Only the options name the service's address.
 */
export type RemoteResources = z.output<typeof remoteResourcesSchema>;
export type RemoteRun = z.output<typeof remoteRunSchema>;
export type RemoteServer = z.output<typeof remoteServerSchema>;

/** Keeps the cleanup journal, and saves it with every change. */
export interface CleanupJournal {
  /** Adds a server, or replaces the entry with the same name. */
  setServer(server: RemoteServer): void;
  removeServer(name: string): void;
  /** Adds a run, or replaces the entry with the same marker. */
  setRun(run: RemoteRun): void;
  removeRun(marker: string): void;
}

/** Opens a journal. `save` gets the whole list with every change, and null when nothing is left. */
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

/** For resources that end with this process. */
export const noCleanupJournal: CleanupJournal = {
  setServer: () => {},
  removeServer: () => {},
  setRun: () => {},
  removeRun: () => {},
};

/** Parses a saved list; null if it is invalid. */
export function parseRemoteResources(text: string): RemoteResources | null {
  try {
    return remoteResourcesSchema.parse(JSON.parse(text));
  } catch {
    return null;
  }
}
