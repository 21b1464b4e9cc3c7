import { Hono } from 'hono';
import { buildOpenApi } from '../../../src/service/openapi.ts';
import { requireLoopbackHost } from './access.ts';
import type { ApiEnv } from './callers.ts';
import type { Logger } from '../../../src/base/logger.ts';
import type { ContainerEngines } from '../../../src/server/container-engine.ts';
import type { InventoryFactory } from './app.ts';
import { openEnvironments } from './environments/environment-records.ts';
import { createFindRunTarget } from './environments/run-targets.ts';
import { openHosts } from './hosts/host-records.ts';
import { openTokenBook } from './oauth-tokens.ts';
import { serveChatboxes, serveChatSessions } from './routes/chats-routes.ts';
import type { Plugin, PluginVersion } from './plugins/inventory.ts';
import { readPlugins } from './plugins/read-plugins.ts';
import { serveCatalogs } from './routes/catalogs-routes.ts';
import { serveEnvironments } from './routes/environments-routes.ts';
import { serveHosts } from './routes/hosts-routes.ts';
import { serveImages } from './routes/images-routes.ts';
import { servePlugins } from './routes/plugins-routes.ts';
import { serveDiagnostics } from './routes/diagnostics-routes.ts';
import { servePrimitives } from './routes/primitives-routes.ts';
import type { ChatboxContent } from './chats/chatboxes.ts';
import { openChatSessions } from './chats/sessions.ts';
import { openReviews } from './review/reviews.ts';
import { serveRunComparison } from './routes/run-comparison-routes.ts';
import { serveRunGroups } from './routes/run-groups-routes.ts';
import { serveRunReviews } from './routes/run-reviews-routes.ts';
import { serveSuiteSettings } from './routes/suite-settings-routes.ts';
import { serveTraceExport } from './routes/trace-export-routes.ts';
import { serveUploads } from './routes/uploads-routes.ts';
import { createServerReach } from './server-reach.ts';
import { startScheduler } from './suite-schedule/scheduler.ts';

/** The parts of the service in addition to its store. */
export interface InventorySettings {
  plugins?: readonly Plugin[];
  /** Replace the chatboxes of the store if they are given. */
  chatboxes?: readonly ChatboxContent[] | null;
  /** Build and boot sandbox images. None by default. */
  containers?: Pick<ContainerEngines, 'find'> | null;
}

/**
 * Serves the operations that a gate never calls, and starts the runs that are due. It is a separate module, so that the action's bundle,
 * which runs the service only for itself, does not contain them.
 */
export function configureInventory({
  plugins = [],
  chatboxes = null,
  containers = null,
}: InventorySettings): InventoryFactory {
  return (parts, { creator, serve, routes }) => {
    for (const version of plugins.flatMap(({ versions }) => versions)) warnOfUnusable(version, parts.logger);
    const hosts = openHosts(parts.store);
    const environments = openEnvironments(parts.store);
    const scheduler = startScheduler({ ...parts, creator });
    const resolving = { ...parts, hosts, environments, plugins };
    const tokens = openTokenBook(parts);
    const reach = createServerReach({ tokens, commands: parts.commands });
    serveDiagnostics(serve, { ...parts, reach, tokens });
    servePrimitives(serve, { ...parts, reach });
    serveHosts(serve, resolving);
    serveEnvironments(serve, resolving);
    servePlugins(serve, plugins);
    serveSuiteSettings(serve, { ...resolving, scheduler });
    serveCatalogs(serve, { ...parts, hasSandboxes: containers !== null });
    const images = serveImages(serve, { ...parts, containers });
    const reviews = openReviews(parts);
    const sessions = openChatSessions(parts);
    serveRunComparison(serve, parts);
    serveRunGroups(serve, { creator, hosts, environments });
    serveRunReviews(serve, { ...parts, reviews });
    serveTraceExport(serve, parts);
    serveUploads(serve, { ...parts, open: routes.open });
    serveChatSessions(serve, { ...parts, sessions });
    serveChatboxes(serve, { ...parts, given: chatboxes });
    const outside = new Hono<ApiEnv>();
    serveDescription(outside);
    return {
      outside,
      reach,
      findTarget: createFindRunTarget(resolving),
      describeRun: (run) => ({
        insights: reviews.getInsights(run, parts.models !== null),
        judges: reviews.getJudges(run),
      }),
      onTurn: (turn) => sessions.record(turn),
      [Symbol.asyncDispose]: async () => {
        await scheduler[Symbol.asyncDispose]();
        await reviews[Symbol.asyncDispose]();
        await images[Symbol.asyncDispose]();
      },
    };
  };
}

/**
 * Opens the inventory with the plugins in a directory; with none if no directory is given.
 *
 * @throws {ConfigurationError} if the plugins cannot be read
 */
export async function openInventory({
  pluginsDir,
  ...settings
}: { pluginsDir: string | undefined } & Omit<InventorySettings, 'plugins'>): Promise<InventoryFactory> {
  return configureInventory({ ...settings, plugins: pluginsDir === undefined ? [] : await readPlugins(pluginsDir) });
}

/** The inventory of a service without plugins and container engines. */
export const createInventory = configureInventory({});

function warnOfUnusable({ pluginName, folder, status }: PluginVersion, logger: Logger): void {
  if (status === 'ready') return;
  const problem = status === 'staging' ? 'has no plugin.json' : 'has a plugin.json that cannot be used';
  logger.warning(
    `The version ${folder} of the plugin ${JSON.stringify(pluginName)} ${problem}; environments cannot pin it.`,
  );
}

const descriptionPath = '/openapi.json';

/** Serves the description of the API without a key, for readers that have none yet. */
function serveDescription(routes: Hono<ApiEnv>): void {
  let description: string | undefined;
  routes.use(descriptionPath, requireLoopbackHost());
  routes.get(descriptionPath, (c) => {
    description ??= JSON.stringify(buildOpenApi());
    return c.body(description, 200, { 'content-type': 'application/json' });
  });
}
