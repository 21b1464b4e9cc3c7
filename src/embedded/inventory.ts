import type { InventoryFactory } from './app.ts';
import { openEnvironments } from './environments/records.ts';
import { createFindRunTarget } from './environments/run-targets.ts';
import { openHosts } from './hosts/records.ts';
import { createOperationRoutes } from './operation-routes.ts';
import type { Plugin } from './plugins/inventory.ts';
import { serveCatalogs } from './routes/catalogs.ts';
import { serveEnvironments } from './routes/environments.ts';
import { serveHosts } from './routes/hosts.ts';
import { servePlugins } from './routes/plugins.ts';
import { serveProjects } from './routes/projects.ts';
import { serveSuiteSettings } from './routes/suite-settings.ts';
import { startScheduler } from './suite-schedule/scheduler.ts';

/** What the service has in addition to its store. */
export interface InventorySettings {
  plugins?: readonly Plugin[];
}

/**
 * Serves the operations that a gate never calls, and starts the runs that are due. A separate module, so that the action's bundle, which
 * runs the service for itself alone, does not carry them.
 */
export function configureInventory({ plugins = [] }: InventorySettings): InventoryFactory {
  return (parts, { creator }) => {
    const { routes, serve } = createOperationRoutes(parts);
    const hosts = openHosts(parts.store);
    const environments = openEnvironments(parts.store);
    const scheduler = startScheduler({ ...parts, creator });
    const resolving = { ...parts, hosts, environments, plugins };
    serveProjects(serve, parts);
    serveHosts(serve, resolving);
    serveEnvironments(serve, resolving);
    servePlugins(serve, plugins);
    serveSuiteSettings(serve, { ...resolving, scheduler });
    serveCatalogs(serve, parts);
    return {
      ...routes,
      findTarget: createFindRunTarget(resolving),
      [Symbol.asyncDispose]: async () => await scheduler[Symbol.asyncDispose](),
    };
  };
}

/** The inventory of a service without plugins. */
export const createInventory = configureInventory({});
