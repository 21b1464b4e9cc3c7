import type { Clock, Deadline } from '../../base/time.ts';
import type { Logger } from '../../base/logger.ts';
import { unlimitedPacer } from '../../base/pacing.ts';
import type { Redactor } from '../../base/redaction.ts';
import type { ProtocolTable } from '../../embedded/connect.ts';
import type { ServerWitnesses } from '../../model/process-end.ts';
import { openServiceClient, type ServiceClient } from '../../service/client.ts';
import { findChromium } from '../../browser/find-chromium.ts';
import { defaultTimeoutMs } from '../../suite/build.ts';
import { requireProject } from '../../service/project.ts';
import { type CleanupJournal, type RemoteResources, noCleanupJournal, openCleanupJournal } from './cleanup-journal.ts';
import type { GatePlan } from '../plan/plan.ts';
import type { HostedService, PlannedUpload } from '../plan/plan-service.ts';
import type { PlannedModels } from '../plan/plan-models.ts';
import type { JobModels } from './open-models.ts';
import { type AnswerUse, createAnswerUse } from './answer-use.ts';
import { type JobSnapshots, openSnapshots } from './snapshots.ts';
import { createJobScheduling, type JobScheduling } from './scheduling.ts';

/** The part of a plan that settles which service is used and how. */
export type ServicePlan = Pick<
  GatePlan,
  'service' | 'timeoutMs' | 'hasTraceLog' | 'models' | 'variables' | 'snapshots'
>;

/** An eval service that answers, and the project of it that the gate works in. */
export interface ConnectedService extends AsyncDisposable {
  readonly client: ServiceClient;
  /** The same service without the pace of its limits, for the few calls of a teardown that is in a hurry. */
  readonly urgentClient: ServiceClient;
  readonly projectId: string;
  readonly journal: CleanupJournal;
  /** Null where the service is hosted, which decides by itself how it speaks to a server. */
  readonly protocols: ProtocolTable | null;
  /** Null where the service is a hosted one, which decides itself how iterations overlap. */
  readonly scheduling: JobScheduling | null;
  /** Null where the service is a hosted one, for which the client offers nothing. */
  readonly answers: AnswerUse | null;
  /** Null where no case has a prompt, or the service is a hosted one. */
  readonly models: JobModels | null;
  /** Null where no case compares with snapshots. */
  readonly snapshots: JobSnapshots | null;
  /** Resolves once no run, or not this one, uses the servers any more. Null where the service is hosted, whose runs are asked after. */
  readonly waitForRuns: ((runId?: string) => Promise<void>) | null;
}

interface OwnServiceOptions {
  clock: Clock;
  logger: Logger;
  redactor: Redactor;
  signal: AbortSignal;
  /** The job's, in which a browser is looked for; without it, no app is shown. */
  environment?: Readonly<Record<string, string | undefined>> | undefined;
  /** Asked how calls ended. */
  witnesses?: ServerWitnesses | undefined;
}

interface HostedServiceOptions {
  clock: Clock;
  logger: Logger;
  signal: AbortSignal;
  /** No call but those of a teardown waits beyond it. */
  deadline?: Deadline | undefined;
  saveRemoteResources?: ((resources: RemoteResources | null) => void) | undefined;
}

/**
 * Opens the service inside this process, or connects to the hosted one, and finds the project.
 *
 * @throws {ConfigurationError} when the key, the address or the project is not right
 */
export async function connectService(
  plan: ServicePlan,
  options: OwnServiceOptions & HostedServiceOptions,
): Promise<ConnectedService> {
  const { hosted } = plan.service;
  return hosted === null ? await openOwnService(plan, options) : await connectHosted(plan, hosted, options);
}

/** Opens the eval service inside this process, and the client that alone may speak to it. */
async function openOwnService(
  plan: ServicePlan,
  { clock, logger, redactor, signal, witnesses, environment }: OwnServiceOptions,
): Promise<ConnectedService> {
  // Loaded lazily: hosted runs need neither the engine nor the store.
  const { localLimits, openEmbeddedService } = await import('../../embedded/open.ts');
  const scheduling = createJobScheduling();
  const answers = createAnswerUse();
  const models = plan.models === null ? null : await openJobModels(plan.models, { clock, logger, redactor });
  const snapshots = plan.snapshots === null ? null : openSnapshots(plan.snapshots, redactor);
  const service = await openEmbeddedService({
    clock,
    logger,
    scheduling,
    limits: localLimits,
    // The plan refuses longer ones; the default of an evals file may exceed a short limit of the gate.
    iterationTimeoutMs: Math.max(plan.timeoutMs, defaultTimeoutMs),
    runTimeoutMs: plan.timeoutMs,
    propagatesTraces: plan.hasTraceLog,
    variables: plan.variables,
    witnesses: witnesses ?? null,
    onAnswers: (iteration) => answers.onIteration(iteration),
    models,
    snapshots,
    chromium: environment === undefined ? null : findChromium(environment),
  });
  redactor.add(service.apiKey);
  const { baseUrl, apiKey } = service;
  const client = openServiceClient({ baseUrl, apiKey, profile: plan.service.profile, clock, logger });
  return await enterProject(client, client, {
    project: service.projectId,
    signal,
    protocols: service.protocols,
    openJournal: () => noCleanupJournal,
    scheduling,
    answers,
    models,
    snapshots,
    waitForRuns: (runId) => service.waitForRuns(runId),
    close: async () => {
      await service[Symbol.asyncDispose]();
      await models?.[Symbol.asyncDispose]();
    },
  });
}

async function openJobModels(
  plan: PlannedModels,
  options: Pick<OwnServiceOptions, 'clock' | 'logger' | 'redactor'>,
): Promise<JobModels> {
  const { openModels } = await import('./open-models.ts');
  return openModels(plan, options);
}

async function connectHosted(
  plan: ServicePlan,
  { baseUrl, apiKey, project, proxy }: HostedService,
  { clock, logger, signal, deadline, saveRemoteResources }: HostedServiceOptions,
): Promise<ConnectedService> {
  const { profile } = plan.service;
  const options = { baseUrl, apiKey, profile, clock, logger, proxy };
  const client = openServiceClient({ ...options, deadline });
  const urgentClient = openServiceClient({ ...options, pacer: unlimitedPacer });
  return await enterProject(client, urgentClient, {
    project,
    signal,
    protocols: null,
    openJournal: (projectId) =>
      saveRemoteResources === undefined || profile.name === 'embedded'
        ? noCleanupJournal
        : openCleanupJournal({ projectId }, saveRemoteResources),
    scheduling: null,
    answers: null,
    models: null,
    snapshots: null,
    waitForRuns: null,
    close: async () => await urgentClient[Symbol.asyncDispose](),
  });
}

/** Opens the client of an upload. Signals go with the calls, so that a run can still be ended after one called them off. */
export function openUploadClient(
  { profile, service: { baseUrl, apiKey, proxy } }: PlannedUpload,
  { clock, logger }: { clock: Clock; logger: Logger },
): ServiceClient {
  return openServiceClient({ baseUrl, apiKey, profile, clock, logger, proxy });
}

async function enterProject(
  client: ServiceClient,
  urgentClient: ServiceClient,
  options: {
    project: string | null;
    signal: AbortSignal;
    protocols: ProtocolTable | null;
    openJournal: (projectId: string) => CleanupJournal;
    scheduling: JobScheduling | null;
    answers: AnswerUse | null;
    models: JobModels | null;
    snapshots: JobSnapshots | null;
    waitForRuns: ConnectedService['waitForRuns'];
    close: () => Promise<void>;
  },
): Promise<ConnectedService> {
  const close = async () => {
    await client[Symbol.asyncDispose]();
    await options.close();
  };
  try {
    const { id: projectId } = await requireProject(client, { project: options.project, signal: options.signal });
    const journal = options.openJournal(projectId);
    const { protocols, scheduling, answers, models, snapshots, waitForRuns } = options;
    const parts = { protocols, scheduling, answers, models, snapshots, waitForRuns };
    return { client, urgentClient, projectId, journal, ...parts, [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}
