import type { Clock, Deadline } from '../../base/time.ts';
import type { Logger } from '../../base/logger.ts';
import { unlimitedPacer } from '../../base/pacing.ts';
import { openServiceClient, type ServiceClient } from '../../service/client.ts';
import { requireProject } from '../../service/project.ts';
import type { HostedService, PlannedService, PlannedUpload } from '../plan/plan-service.ts';
import { type CleanupJournal, noCleanupJournal, openCleanupJournal, type RemoteResources } from './cleanup-journal.ts';

/** A project of a hosted service. */
export interface HostedProject {
  readonly client: ServiceClient;
  readonly projectId: string;
}

/** The project that a gate works in, and the resources of the gate in it. */
export interface ConnectedProject extends HostedProject, AsyncDisposable {
  /** A client of the same service without the pace of its limits, for the few calls of a teardown that must be fast. */
  readonly urgentClient: ServiceClient;
  readonly journal: CleanupJournal;
}

export interface HostedOptions {
  clock: Clock;
  logger: Logger;
  signal: AbortSignal;
  /** Limits the wait of every call except those of a teardown. */
  deadline?: Deadline | undefined;
  saveRemoteResources?: ((resources: RemoteResources | null) => void) | undefined;
}

/** Connects to a hosted service, and finds the project. @throws {ConfigurationError} if the key, the address or the project is wrong */
export async function connectProject(
  { profile }: Pick<PlannedService, 'profile'>,
  { baseUrl, apiKey, project, proxy }: HostedService,
  { clock, logger, signal, deadline, saveRemoteResources }: HostedOptions,
): Promise<ConnectedProject> {
  const options = { baseUrl, apiKey, profile, clock, logger, proxy };
  const client = openServiceClient({ ...options, deadline });
  const urgentClient = openServiceClient({ ...options, pacer: unlimitedPacer });
  const close = async () => {
    await client[Symbol.asyncDispose]();
    await urgentClient[Symbol.asyncDispose]();
  };
  try {
    const { id: projectId } = await requireProject(client, { project, signal });
    const journal =
      saveRemoteResources === undefined ? noCleanupJournal : openCleanupJournal({ projectId }, saveRemoteResources);
    return { client, urgentClient, projectId, journal, [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Opens the client of an upload. It has no signal; each call gets one, so that the gate can still end a run after a signal cancelled the upload. */
export function openUploadClient(
  { profile, service: { baseUrl, apiKey, proxy } }: PlannedUpload,
  { clock, logger }: { clock: Clock; logger: Logger },
): ServiceClient {
  return openServiceClient({ baseUrl, apiKey, profile, clock, logger, proxy });
}
