import { Hono } from 'hono';
import type { ApiEnv } from '../callers.ts';
import { notSupported } from '../envelope.ts';

/** Operations of the API that this service does not offer, by the reason that is given for it. */
const unsupported: Record<string, readonly string[]> = {};

/** Every operation of the API that this service does not offer, and why; ids of the path are in braces. */
export function listUnsupported(): Array<{ method: string; path: string; reason: string }> {
  return Object.entries(unsupported).flatMap(([reason, operations]) =>
    operations.map((operation) => {
      const [method = '', path = ''] = operation.split(' ');
      return { method, path: path.replaceAll(/:(\w+)/g, '{$1}'), reason };
    }),
  );
}

/** Answers the rest of the API with FEATURE_NOT_SUPPORTED and the reason, so that it is not taken for a wrong path. */
export function createUnsupportedRoutes(): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();
  for (const [reason, operations] of Object.entries(unsupported)) {
    for (const operation of operations) {
      const [method = '', path = ''] = operation.split(' ');
      routes.on(method, path, () => {
        throw notSupported(reason);
      });
    }
  }
  return routes;
}
