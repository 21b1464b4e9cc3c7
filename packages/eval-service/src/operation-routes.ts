import { Hono, type HonoRequest, type MiddlewareHandler } from 'hono';
import { z } from 'zod';
import { listPathFields, type Operation } from '../../../src/service/operations/operation.ts';
import type { PathFields } from '../../../src/service/paths.ts';
import { whereKeyed } from './access.ts';
import type { OperationRoutes } from './app.ts';
import { anonymousCaller, type ApiEnv, type Caller } from './callers.ts';
import { ApiError } from './envelope.ts';
import { requireProject } from './lookup.ts';
import type { BodyReader } from './request.ts';
import type { Store } from './store/open-store.ts';

/** One call of an operation, checked against its description. */
export interface OperationCall<Path extends string, Body> {
  /** The ids of the path. */
  ids: Record<PathFields<Path>, string>;
  body: Body;
  caller: Caller;
  /** For reading the query and the headers. */
  request: HonoRequest;
}

/** Adds the route of an operation. `handle` returns the content of the answer, or a whole response if it sets headers. */
export type ServeOperation = <
  Path extends string,
  Query extends z.ZodObject,
  Body extends z.ZodObject,
  Answer extends z.ZodType,
>(
  operation: Operation<Path, Query, Body, Answer>,
  handle: (
    call: OperationCall<Path, z.output<Body>>,
  ) => z.input<Answer> | Response | Promise<z.input<Answer> | Response>,
) => void;

/**
 * Makes routes from the descriptions of operations. A public operation checks a key only if the request has one. A route first checks that
 * the project exists (404), then that the caller has the right (403) and that the body is valid (400); then it calls the handler.
 */
export function createOperationRoutes({
  store,
  readBody,
  admission,
}: {
  store: Store;
  readBody: BodyReader;
  admission: ReadonlyArray<MiddlewareHandler<ApiEnv>>;
}): { routes: OperationRoutes; serve: ServeOperation } {
  const routes = { open: new Hono<ApiEnv>(), closed: new Hono<ApiEnv>(), outside: new Hono<ApiEnv>() };
  const serve: ServeOperation = (operation, handle) => {
    const { method, path, body, status, errors } = operation;
    const isPublic = operation.right === 'public';
    const names = listPathFields(path);
    const group = isPublic ? routes.open : routes.closed;
    const pattern = path.replaceAll(/\{(\w+)\}/g, ':$1');
    if (isPublic && errors.includes(401)) for (const check of admission) group.on(method, pattern, whereKeyed(check));
    group.on(method, pattern, async (context) => {
      const { req: request } = context;
      const ids = idsOf(path).parse(Object.fromEntries(names.map((name) => [name, request.param(name)])));
      const projectId = request.param('projectId');
      const isDefault = operation.hasDefaultProject === true && projectId === 'default';
      if (projectId !== undefined && !isDefault) requireProject(store, projectId);
      const caller = isPublic ? anonymousCaller : context.var.caller;
      if (!isPublic) requireRight(operation, caller);
      const answer = await handle({ ids, body: await readBody(context, body), caller, request });
      return answer instanceof Response ? answer : Response.json(answer, { status });
    });
  };
  return { routes, serve };
}

/** Types the ids of a path: the router matched it, so each of its names has a text. */
function idsOf<Path extends string>(_path: Path) {
  return z.custom<Record<PathFields<Path>, string>>();
}

/** Requires the right of an operation. Guests, who may change nothing, were already refused. */
function requireRight({ right }: Operation, { role }: Caller): void {
  if (right === 'admin' && role !== 'admin') {
    throw new ApiError('FORBIDDEN', 'Only an administrator of the project may do this.');
  }
}
