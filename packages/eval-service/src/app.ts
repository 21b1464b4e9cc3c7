import { Hono } from 'hono';
import { routePath } from 'hono/route';
import { describeError } from '../../../src/base/errors.ts';
import { buildOpenApi } from '../../../src/service/openapi.ts';
import { limitRate, type RateLimit, requireCaller, requireLoopbackHost, requireMembership } from './access.ts';
import type { AcceptedKey, ApiEnv } from './callers.ts';
import { ApiError, notFound, renderApiError } from './envelope.ts';
import { serveOperations, type ServiceParts } from './serve-operations.ts';

/** The path of the API on any origin. */
export const apiPath = '/api/v1';

/** The API as a function. Disposing it ends the background work of the service. */
export interface App extends AsyncDisposable {
  fetch: (request: Request, env?: ApiEnv['Bindings']) => Response | Promise<Response>;
  /** The routes with their methods, for the test of the API's description. */
  routes: ReadonlyArray<{ method: string; path: string }>;
}

/**
 * Builds the API as a function from Request to Response, without a socket. Refusals of all routes have the same shape. An unexpected
 * error is logged, and its text is not sent.
 */
export function createApp(
  parts: ServiceParts,
  { keys, rateLimit }: { keys: readonly AcceptedKey[]; rateLimit: RateLimit | null },
): App {
  const { logger, clock, store } = parts;
  const admission = [requireCaller(keys), ...(rateLimit === null ? [] : [limitRate(clock, rateLimit)])];
  const operations = serveOperations(parts, admission);

  const api = new Hono<ApiEnv>();
  api.use(requireLoopbackHost());
  api.route('/', operations.open);
  for (const check of admission) api.use(check);
  const isMember = requireMembership(store);
  api.use('/projects', isMember);
  api.use('/projects/:projectId', isMember);
  api.use('/projects/:projectId/*', isMember);
  // A wildcard also matches the path above it.
  api.use('/eval-runs/*', isMember);
  api.route('/', operations.closed);

  const app = new Hono<ApiEnv>().route(apiPath, api);
  serveDescription(app);
  app.notFound(() => renderApiError(notFound('Path')));
  app.onError((error, c) => {
    if (error instanceof ApiError) return renderApiError(error);
    // Log the matched pattern, because the path is the client's text.
    logger.error(`${c.req.method} ${routePath(c, -1)} failed: ${describeError(error)}`);
    return renderApiError(new ApiError('INTERNAL_ERROR', 'The service failed to answer; its log says why.'));
  });
  return {
    fetch: (request, env = {}) => app.fetch(request, env),
    routes: app.routes,
    [Symbol.asyncDispose]: () => operations[Symbol.asyncDispose](),
  };
}

const descriptionPath = '/openapi.json';

/** Serves the description of the API without a key, for readers that have none yet. It is next to the API, not in it. */
function serveDescription(routes: Hono<ApiEnv>): void {
  let description: string | undefined;
  routes.use(descriptionPath, requireLoopbackHost());
  routes.get(descriptionPath, (c) => {
    description ??= JSON.stringify(buildOpenApi());
    return c.body(description, 200, { 'content-type': 'application/json' });
  });
}
