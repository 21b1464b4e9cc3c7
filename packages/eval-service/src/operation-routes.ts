import { Hono, type HonoRequest, type MiddlewareHandler } from 'hono';
import { z } from 'zod';
import { listPaths, type Operation } from '../../../src/service/operations/operation.ts';
import type { PathFields } from '../../../src/service/paths.ts';
import { whereKeyed } from './access.ts';
import { anonymousCaller, type ApiEnv, type Caller } from './callers.ts';
import { ApiError } from './envelope.ts';
import { requireMeantProject, requireNamedProject } from './lookup.ts';
import type { BodyReader } from './request.ts';
import type { Store } from './store/open-store.ts';

/** One call of an operation, checked against its description. */
export interface OperationCall<Path extends string, Body> {
  /** The ids of the path. `projectId` is the id of the project also if the path means it without naming it. */
  ids: Record<PathFields<Path>, string>;
  body: Body;
  caller: Caller;
  /** For reading the query and the headers. */
  request: HonoRequest;
}

/** The routes of operations without and with a key. */
export interface OperationRoutes {
  open: Hono<ApiEnv>;
  closed: Hono<ApiEnv>;
}

/** Adds the routes of an operation, also that of its short path. `handle` returns the content of the answer, or a whole response if it sets headers. */
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
 * the project exists (404), then that the caller has the right (403) and that the body is valid (400); then it calls the handler. An
 * operation that has no refusal for its body ignores it.
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
  const routes = { open: new Hono<ApiEnv>(), closed: new Hono<ApiEnv>() };
  const serve: ServeOperation = (operation, handle) => {
    const { method, path, body, status, errors, hasDefaultProject = false, hasShortPath = false } = operation;
    const isPublic = operation.right === 'public';
    const group = isPublic ? routes.open : routes.closed;
    const patterns = listPaths(operation).map((each) => each.replaceAll(/\{(\w+)\}/g, ':$1'));
    if (isPublic && errors.includes(401)) for (const check of admission) group.on(method, patterns, whereKeyed(check));
    group.on(method, patterns, async (context) => {
      const request: HonoRequest = context.req;
      const given: Record<string, string> = request.param();
      const caller = isPublic ? anonymousCaller : context.var.caller;
      const { projectId, runId } = given;
      const named =
        projectId === undefined ? undefined : requireNamedProject(store, projectId, { caller, hasDefaultProject });
      if (!isPublic) requireRight(operation, caller);
      const sent = errors.includes(400) ? await readBody(context, body) : body.parse({});
      const isShort = hasShortPath && named === undefined;
      const project = isShort ? requireMeantProject(store, { runId, ...sent }, caller) : named;
      const ids = idsOf(path).parse({ ...given, ...(project && { projectId: project.id }) });
      const answer = await handle({ ids, body: sent, caller, request });
      return answer instanceof Response ? answer : Response.json(answer, { status });
    });
  };
  return { routes, serve };
}

/** Types the ids of a path: the router matched it or its short form, so each of its names has a text. */
function idsOf<Path extends string>(_path: Path) {
  return z.custom<Record<PathFields<Path>, string>>();
}

/** Requires the right of an operation. Guests, who may change nothing, were already refused. */
function requireRight({ right }: Operation, { role }: Caller): void {
  if (right === 'admin' && role !== 'admin') {
    throw new ApiError('FORBIDDEN', 'Only an administrator of the project may do this.');
  }
}
