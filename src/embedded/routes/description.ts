import type { Hono } from 'hono';
import { buildOpenApi } from '../../service/openapi.ts';
import { requireLoopbackHost } from '../access.ts';
import type { ApiEnv } from '../callers.ts';

const path = '/openapi.json';

/** The description of the API, for who has no key yet. */
export function serveDescription(routes: Hono<ApiEnv>): void {
  let description: string | undefined;
  routes.use(path, requireLoopbackHost());
  routes.get(path, (c) => {
    description ??= JSON.stringify(buildOpenApi());
    return c.body(description, 200, { 'content-type': 'application/json' });
  });
}
