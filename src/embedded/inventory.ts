import type { InventoryFactory } from './app.ts';
import { createOperationRoutes } from './operation-routes.ts';
import { serveDescription } from './routes/description.ts';
import { serveProjects } from './routes/projects.ts';
import { serveRunComparison } from './routes/run-comparison.ts';
import { serveTraceExport } from './routes/trace-export.ts';
import { serveUploads } from './routes/uploads.ts';

/**
 * Serves the operations that a gate never calls. A separate module, so that the action's bundle, which runs the service for itself
 * alone, does not carry them.
 */
export const createInventory: InventoryFactory = (parts) => {
  const { routes, serve } = createOperationRoutes(parts);
  serveProjects(serve, parts);
  serveRunComparison(serve, parts);
  serveTraceExport(serve, parts);
  serveUploads(serve, { ...parts, open: routes.open });
  serveDescription(routes.outside);
  return routes;
};
