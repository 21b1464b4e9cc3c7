import type { Hono } from 'hono';
import type { ApiEnv } from '../callers.ts';
import type { Dispatch } from './turn-tools.ts';

/** Makes the way into the routes of `inside`, which then throws its refusals. */
export function createDispatch(inside: Hono<ApiEnv>): Dispatch {
  inside.onError((error) => {
    throw error;
  });
  return async ({ method, path, body }, { projectId, idempotencyKey, signal }) => {
    const response = await inside.request(`/projects/${encodeURIComponent(projectId)}${path}`, {
      method,
      signal,
      ...(idempotencyKey === undefined ? {} : { headers: { 'x-svc-idempotency-key': idempotencyKey } }),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`No route answers ${method} ${path}.`);
    return await response.json();
  };
}
