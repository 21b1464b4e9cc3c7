import { Hono } from 'hono';
import { routePath } from 'hono/route';
import { describeError } from '../base/errors.ts';
import type { Secret } from '../base/redaction.ts';
import { limitRate, type RateLimit, requireApiKey, requireLoopbackHost } from './access.ts';
import type { ServiceContext } from './context.ts';
import { ApiError, notFound, renderApiError } from './envelope.ts';
import { createLauncher } from './create-run.ts';
import { createAccountRoutes } from './routes/account.ts';
import { createCaseBatchRoutes, createCaseRoutes } from './routes/cases.ts';
import { createIngestRoutes } from './routes/ingest.ts';
import { createRunRoutes } from './routes/runs.ts';
import { createServerRoutes } from './routes/servers.ts';
import { createSuiteRoutes } from './routes/suites.ts';
import { createTunnelRoutes } from './routes/tunnels.ts';
import { createUnsupportedRoutes } from './routes/unsupported.ts';

/** Where the API is mounted, on whatever origin. */
export const apiPath = '/api/v1';

/**
 * Puts the API together: a function from Request to Response that needs no socket. A refusal has one shape whatever
 * route it comes from; an unexpected error is logged and answered without its text.
 */
export function createApp(context: ServiceContext, access: { apiKey: Secret; rateLimit: RateLimit | null }): Hono {
  const { logger, clock } = context;
  const api = new Hono();
  api.use(requireLoopbackHost(), requireApiKey(access.apiKey));
  if (access.rateLimit !== null) api.use(limitRate(clock, access.rateLimit));

  const runs = createRunRoutes(context, createLauncher(context));
  for (const routes of [
    createAccountRoutes(context),
    createServerRoutes(context),
    createTunnelRoutes(context),
    createSuiteRoutes(context),
    createCaseBatchRoutes(context),
    createCaseRoutes(context),
    createIngestRoutes(context),
  ]) {
    api.route('/', routes);
  }
  api.route('/projects/:projectId/eval-runs', runs);
  api.route('/eval-runs', runs);
  api.route('/', createUnsupportedRoutes());

  const app = new Hono().route(apiPath, api);
  app.notFound(() => renderApiError(notFound('Path')));
  app.onError((error, c) => {
    if (error instanceof ApiError) return renderApiError(error);
    // The matched pattern, not the path: a path is the client's text.
    logger.error(`${c.req.method} ${routePath(c, -1)} failed: ${describeError(error)}`);
    return renderApiError(new ApiError('INTERNAL_ERROR', 'The service failed to answer; its log says why.'));
  });
  return app;
}
