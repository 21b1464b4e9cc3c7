import { Hono } from 'hono';
import { routePath } from 'hono/route';
import { describeError } from '../../../src/base/errors.ts';
import type { Logger } from '../../../src/base/logger.ts';
import type { Clock } from '../../../src/base/time.ts';
import type { ConcurrencySetting } from '../../../src/model/concurrency.ts';
import type { ModelName, ModelSource } from '../../../src/models/language-model.ts';
import { limitRate, type RateLimit, requireCaller, requireLoopbackHost, requireMembership } from './access.ts';
import { createDispatch } from './agent/turn-tools.ts';
import type { AcceptedKey, ApiEnv } from './callers.ts';
import { connectTargets, type ServerReach } from './connect.ts';
import { createRunCreator, type RunCreator } from './create-run.ts';
import { ApiError, notFound, renderApiError } from './envelope.ts';
import type { ServiceLimits } from '../../../src/service/api-limits.ts';
import type { RelayEdge } from '../../../src/tunnel/relay/edge.ts';
import type { CommandServers } from './server-reach.ts';
import { createOperationRoutes, type OperationRoutes, type ServeOperation } from './operation-routes.ts';
import type { BodyReader } from './request.ts';
import { serveAccount } from './routes/account-routes.ts';
import { type AnsweredTurn, serveAgent } from './routes/agent-routes.ts';
import { serveCases } from './routes/cases-routes.ts';
import { serveGeneration } from './routes/generate-routes.ts';
import { serveIngest } from './routes/ingest-routes.ts';
import { serveRuns } from './routes/runs-routes.ts';
import { serveServers } from './routes/servers-routes.ts';
import { serveSuites } from './routes/suites-routes.ts';
import { serveTunnels } from './routes/tunnels-routes.ts';
import { type FindRunTarget, refuseRunTargets } from './run-request.ts';
import type { Runner } from '../../../src/runner/runner.ts';
import type { ConnectServers } from './server-tools.ts';
import type { RunRecord } from './store/run-store.ts';
import type { Store } from './store/open-store.ts';

/** The path of the API on any origin. */
export const apiPath = '/api/v1';

/** The parts of the service; each route uses some of them. */
export interface ServiceParts {
  clock: Clock;
  logger: Logger;
  limits: ServiceLimits;
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
}

/** The accepted keys, the rate limit, and the other operations. */
interface AppAccess {
  keys: readonly AcceptedKey[];
  rateLimit: RateLimit | null;
  createInventory: InventoryFactory | null;
}

/** The operations that a gate never calls, with their background work. Disposing it ends that work. */
export interface Inventory extends AsyncDisposable {
  /** The routes next to the API, from the origin, without a key. */
  outside: Hono<ApiEnv>;
  findTarget: FindRunTarget;
  /** Returns more fields of a run's answer, in addition to its record. */
  describeRun(run: RunRecord): object;
  /** Called after every answered turn of the agent. */
  onTurn(turn: AnsweredTurn): void;
  /** The access of the service to servers, if it has the inventory. */
  reach: ServerReach;
}

/** Makes the inventory of a service. */
export type InventoryFactory = (
  parts: ServiceParts,
  tools: {
    /** The creator that the service's own runs use. */
    creator: RunCreator;
    serve: ServeOperation;
    routes: OperationRoutes;
  },
) => Inventory;

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
export function createApp(parts: ServiceParts, { keys, rateLimit, createInventory }: AppAccess): App {
  const { logger, clock, limits, iterationTimeoutMs, store } = parts;
  const connect: ConnectServers = (servers) => connectTargets(servers, { ...parts, reach: inventory?.reach ?? null });
  const findTarget: FindRunTarget = (...asked) => (inventory?.findTarget ?? refuseRunTargets)(...asked);
  const creator = createRunCreator(parts, { limits, iterationTimeoutMs, connect, findTarget });
  const admission = [requireCaller(keys), ...(rateLimit === null ? [] : [limitRate(clock, rateLimit)])];
  const { routes, serve } = createOperationRoutes({ ...parts, admission });
  const inventory: Inventory | null = createInventory?.(parts, { creator, serve, routes }) ?? null;
  serveAccount(serve, parts);
  serveServers(serve, parts);
  serveTunnels(serve, parts);
  serveSuites(serve, parts);
  serveCases(serve, parts);
  serveIngest(serve, parts);
  serveGeneration(serve, { ...parts, connect, findTarget });
  serveRuns(serve, { ...parts, creator, describeRun: (run) => inventory?.describeRun(run) ?? {} });
  const dispatch = createDispatch(routes.closed);
  serveAgent(serve, { ...parts, connect, dispatch, onTurn: (turn) => inventory?.onTurn(turn) });

  const api = new Hono<ApiEnv>();
  api.use(requireLoopbackHost());
  api.route('/', routes.open);
  for (const check of admission) api.use(check);
  const isMember = requireMembership(store);
  api.use('/projects', isMember);
  api.use('/projects/:projectId', isMember);
  api.use('/projects/:projectId/*', isMember);
  // A wildcard also matches the path above it.
  api.use('/eval-runs/*', isMember);
  api.route('/', routes.closed);

  const app = new Hono<ApiEnv>().route(apiPath, api);
  if (inventory !== null) app.route('/', inventory.outside);
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
    [Symbol.asyncDispose]: async () => await inventory?.[Symbol.asyncDispose](),
  };
}
