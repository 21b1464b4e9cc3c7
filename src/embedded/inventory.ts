import type { InventoryFactory } from './app.ts';
import { createOperationRoutes } from './operation-routes.ts';
import { serveDescription } from './routes/description.ts';
import { serveProjects } from './routes/projects.ts';

/**
 * Serves the operations that a gate never calls. A separate module, so that the action's bundle, which runs the service for itself
 * alone, does not carry them.
 */
export const createInventory: InventoryFactory = (parts) => {
  const { routes, serve } = createOperationRoutes(parts);
  serveProjects(serve, parts);
  serveDescription(routes.outside);
  return routes;
};
