import type { MiddlewareHandler } from 'hono';
import type { Logger } from '../../../src/base/logger.ts';
import type { Clock } from '../../../src/base/time.ts';
import type { ConcurrencySetting } from '../../../src/model/concurrency.ts';
import type { ModelName, ModelSource } from '../../../src/models/language-model.ts';
import type { Runner } from '../../../src/runner/runner.ts';
import type { ContainerEngines } from '../../../src/server/container-engine.ts';
import type { RelayEdge } from '../../../src/tunnel/relay/edge.ts';
import { createDispatch } from './agent/turn-tools.ts';
import type { ApiEnv } from './callers.ts';
import type { ChatboxContent } from './chats/chatboxes.ts';
import { openChatSessions } from './chats/sessions.ts';
import { connectTargets } from './connect.ts';
import { createRunCreator } from './create-run.ts';
import { openEnvironments } from './environments/environment-records.ts';
import { createFindRunTarget } from './environments/run-targets.ts';
import { openHosts } from './hosts/host-records.ts';
import { openTokenBook } from './oauth-tokens.ts';
import { createOperationRoutes, type OperationRoutes } from './operation-routes.ts';
import type { Plugin, PluginVersion } from './plugins/inventory.ts';
import type { BodyReader } from './request.ts';
import { openReviews } from './review/reviews.ts';
import { serveAccount } from './routes/account-routes.ts';
import { serveAgent } from './routes/agent-routes.ts';
import { serveCases } from './routes/cases-routes.ts';
import { serveCatalogs } from './routes/catalogs-routes.ts';
import { serveChatboxes, serveChatSessions } from './routes/chats-routes.ts';
import { serveDiagnostics } from './routes/diagnostics-routes.ts';
import { serveEnvironments } from './routes/environments-routes.ts';
import { serveGeneration } from './routes/generate-routes.ts';
import { serveHosts } from './routes/hosts-routes.ts';
import { serveImages } from './routes/images-routes.ts';
import { serveIngest } from './routes/ingest-routes.ts';
import { servePlugins } from './routes/plugins-routes.ts';
import { servePrimitives } from './routes/primitives-routes.ts';
import { serveRunComparison } from './routes/run-comparison-routes.ts';
import { serveRunGroups } from './routes/run-groups-routes.ts';
import { serveRunReviews } from './routes/run-reviews-routes.ts';
import { serveRuns } from './routes/runs-routes.ts';
import { serveServers } from './routes/servers-routes.ts';
import { serveSuites } from './routes/suites-routes.ts';
import { serveSuiteSettings } from './routes/suite-settings-routes.ts';
import { serveTraceExport } from './routes/trace-export-routes.ts';
import { serveTunnels } from './routes/tunnels-routes.ts';
import { serveUploads } from './routes/uploads-routes.ts';
import { type CommandServers, createServerReach } from './server-reach.ts';
import type { ConnectServers } from './server-tools.ts';
import type { ServedLimits } from './service-limits.ts';
import type { Store } from './store/open-store.ts';
import { startScheduler } from './suite-schedule/scheduler.ts';

/** The parts of the service; each route uses some of them. */
export interface ServiceParts {
  clock: Clock;
  logger: Logger;
  limits: ServedLimits;
  iterationTimeoutMs: number;
  readBody: BodyReader;
  store: Store;
  runner: Runner;
  /** The number of iterations of a run that execute at the same time. */
  concurrency: ConcurrencySetting;
  models: ModelSource | null;
  /** Used if the request, the case and its suite name no model. */
  defaultModel: ModelName | null;
  relay: Pick<RelayEdge, 'issue' | 'revoke'>;
  /** Starts stdio servers of records; null if the service must not start any. */
  commands: CommandServers | null;
  plugins: readonly Plugin[];
  /** Replace the chatboxes of the store if they are given. */
  chatboxes: readonly ChatboxContent[] | null;
  /** Build and boot sandbox images; null if the service has none. */
  containers: Pick<ContainerEngines, 'find'> | null;
}

/** Serves every operation of the API, and starts the background work of the service. Disposing ends that work. */
export function serveOperations(
  parts: ServiceParts,
  admission: ReadonlyArray<MiddlewareHandler<ApiEnv>>,
): OperationRoutes & AsyncDisposable {
  const { store, plugins } = parts;
  const { routes, serve } = createOperationRoutes({ ...parts, admission });
  for (const version of plugins.flatMap(({ versions }) => versions)) warnOfUnusable(version, parts.logger);
  const hosts = openHosts(store);
  const environments = openEnvironments(store);
  const resolving = { ...parts, hosts, environments };
  const tokens = openTokenBook(parts);
  const reach = createServerReach({ tokens, commands: parts.commands });
  const connect: ConnectServers = (servers) => connectTargets(servers, { ...parts, reach });
  const findTarget = createFindRunTarget(resolving);
  const creator = createRunCreator(parts, { ...parts, connect, findTarget });
  const scheduler = startScheduler({ ...parts, creator });
  const reviews = openReviews(parts);
  const sessions = openChatSessions(parts);

  serveAccount(serve, parts);
  serveServers(serve, parts);
  serveDiagnostics(serve, { ...parts, reach, tokens });
  servePrimitives(serve, { ...parts, reach });
  serveTunnels(serve, parts);
  serveSuites(serve, parts);
  serveSuiteSettings(serve, { ...resolving, scheduler });
  serveCases(serve, parts);
  serveGeneration(serve, { ...parts, connect, findTarget });
  serveRuns(serve, { ...parts, creator, reviews });
  serveRunComparison(serve, parts);
  serveRunGroups(serve, { creator, hosts, environments });
  serveRunReviews(serve, { ...parts, reviews });
  serveTraceExport(serve, parts);
  serveIngest(serve, parts);
  serveUploads(serve, { ...parts, open: routes.open });
  serveHosts(serve, resolving);
  serveEnvironments(serve, resolving);
  servePlugins(serve, plugins);
  serveCatalogs(serve, { ...parts, hasSandboxes: parts.containers !== null });
  const images = serveImages(serve, parts);
  serveChatSessions(serve, { ...parts, sessions });
  serveChatboxes(serve, { ...parts, given: parts.chatboxes });
  // The agent may call every operation above, but not itself.
  serveAgent(serve, { ...parts, connect, sessions, dispatch: createDispatch(routes.closed) });
  return {
    ...routes,
    [Symbol.asyncDispose]: async () => {
      await scheduler[Symbol.asyncDispose]();
      await reviews[Symbol.asyncDispose]();
      await images[Symbol.asyncDispose]();
    },
  };
}

function warnOfUnusable({ pluginName, folder, status }: PluginVersion, logger: Logger): void {
  if (status === 'ready') return;
  const problem = status === 'staging' ? 'has no plugin.json' : 'has a plugin.json that cannot be used';
  logger.warning(
    `The version ${folder} of the plugin ${JSON.stringify(pluginName)} ${problem}; environments cannot pin it.`,
  );
}
