import { race } from '../../base/time.ts';
import { ConfigurationError, ServiceError } from '../../base/errors.ts';
import { isLoopback } from '../../http/url.ts';
import type { RunningServer } from '../../server/running-server.ts';
import { callOperation } from '../../service/call-operation.ts';
import { serverOperations } from '../../service/operations/servers.ts';
import { createTunnel } from '../../service/tunnel-client.ts';
import type { HostedService, PlannedService } from '../plan/plan-service.ts';
import type { EvalBackend } from './backend.ts';
import { clearServer } from './clear-remote.ts';
import type { RemoteServer } from './cleanup-journal.ts';
import { type ConnectedProject, connectProject, type HostedOptions } from './hosted-project.ts';
import { openServerTunnel } from './job-server.ts';
import type { ServerRegistration, ServerScope } from './server-scope.ts';
import type { RegisteredServer } from './job-tunnel.ts';
import { prepareStoredSuite } from './prepare-stored-suite.ts';
import { prepareFileSuite } from './prepare-suite.ts';
import { readBaseline } from './read-baseline.ts';
import { startHostedRun } from './hosted-run.ts';

/** Enough to see what broke: each explained failure takes a request, and a hosted service answers one per second. */
const maxExplained = 60;

/**
 * Connects to the hosted service, and finds the project.
 *
 * @throws {ConfigurationError} if the key, the address or the project is wrong
 */
export async function openHostedBackend(
  plan: PlannedService,
  hosted: HostedService,
  options: HostedOptions,
): Promise<EvalBackend> {
  const project = await connectProject(plan, hosted, options);
  const { client } = project;
  const { profile } = client;
  return {
    traits: {
      hasCheapRuns: false,
      watchesProcesses: false,
      hasAllTraces: false,
      maxExplained,
      iterationsPerCase: profile.limits.iterationsPerCase,
      pollIntervalMs: profile.polling.longestMs,
    },
    register: async (running, server, scope) => await registerServer(running, server, { plan, hosted, project, scope }),
    refuseToolClashes: async (suites, targets, context) => {
      // Loaded with the first tunnel.
      const { refuseToolClashes } = await import('./tool-clashes.ts');
      await refuseToolClashes(suites, targets, { ...context, service: project });
    },
    prepare: async (planned, { servers, logger, signal }) => {
      if (planned.kind === 'stored') {
        const { environmentId } = plan;
        return await prepareStoredSuite(planned, { service: project, servers, environmentId, signal });
      }
      // The options require a server whenever evals files run.
      if (servers.length === 0) throw new Error('An evals file was planned without a server to run it against.');
      return await prepareFileSuite(planned, { service: project, servers, logger, signal });
    },
    start: async (prepared, context) => await startHostedRun(prepared, { ...context, plan, hosted, project }),
    readBaseline: async (planned, suites, context) =>
      await readBaseline(planned, suites, { ...context, service: project }),
    startBrowser: async () => {},
    waitForRuns: async () => {},
    listUnusedAnswers: () => [],
    collect: async () => ({ recordings: [], modelNotes: [], snapshots: [] }),
    [Symbol.asyncDispose]: async () => await project[Symbol.asyncDispose](),
  };
}

interface Registering {
  plan: PlannedService;
  hosted: HostedService;
  project: ConnectedProject;
  scope: ServerScope;
}

async function registerServer(
  running: RunningServer,
  server: ServerRegistration,
  { plan, hosted, project, scope }: Registering,
): Promise<RegisteredServer> {
  if (!plan.isTunnelled) return await createRecord(running, server, { plan, project, scope });
  const { client, urgentClient, projectId, journal } = project;
  const use = {
    ...server,
    journal,
    isOwnServerName: plan.isOwnServerName,
    isServiceLocal: isLoopback(new URL(hosted.baseUrl).hostname),
    isOneAtATime: running.report.isolation === 'one process for the run',
    proxy: hosted.proxy,
    grants: {
      subprotocol: client.profile.subprotocol,
      create: async (name: string) => await createTunnel(client, { projectId, name }),
      clear: async (remote: RemoteServer, { signal, isHurried }: { signal: AbortSignal; isHurried: boolean }) =>
        await clearServer(isHurried ? urgentClient : client, remote, { projectId, signal }),
    },
  };
  return await openServerTunnel(running, use, scope);
}

/** Registers the server of this job with the service, by the URL at which it listens. */
async function createRecord(
  { openUrl, explainRefusal }: Pick<RunningServer, 'openUrl' | 'explainRefusal'>,
  { serverName: name, alias }: ServerRegistration,
  { plan: { isOwnServerName }, project, scope: { teardown, lifetime } }: Omit<Registering, 'hosted'>,
): Promise<RegisteredServer> {
  const { client, urgentClient, projectId, journal } = project;
  /** Null if this job has nothing to clear. */
  let remote: RemoteServer | null = { name, serverId: null, hasTunnel: false, isOwn: true, previous: null };
  const note = (next: RemoteServer | null) => {
    remote = next;
    // A name that other jobs use, too, must not be cleared by the name alone.
    if (next === null) journal.removeServer(name);
    else if (next.serverId !== null || isOwnServerName) journal.setServer(next);
  };
  const first = remote;
  const server = { name, enabled: true, transportType: 'http' as const, url: await openUrl() };
  /** Continues when the job is cancelled, because a record that is created later must be deleted in any case. */
  const create = async () => {
    try {
      const { id } = await callOperation(client, serverOperations.createProjectServer, { projectId, ...server });
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
    const nothing = { countBreaks: () => 0, listRefusals: () => [], listSpoken: () => [], listTools: () => null };
    return { id, name, alias, ...nothing, explainRefusal };
  } catch (error) {
    if (!(error instanceof ServiceError && error.status === 409)) throw error;
    const message = 'is taken by another server of the project; choose another, or leave it out';
    throw new ConfigurationError([{ input: 'server-name', code: 'server-name-taken', message }], { cause: error });
  }
}
