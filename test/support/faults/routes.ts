/** The kinds of API requests that faults distinguish. */
export const routes = {
  projects: ['GET', /^\/projects$/],
  grant: ['POST', /^\/projects\/[^/]+\/tunnels$/],
  close: ['POST', /^\/projects\/[^/]+\/tunnels\/[^/]+\/close$/],
  servers: ['GET', /^\/projects\/[^/]+\/servers$/],
  'delete-server': ['DELETE', /^\/projects\/[^/]+\/servers\/[^/]+$/],
  suites: ['GET', /^\/projects\/[^/]+\/eval-suites$/],
  'create-suite': ['POST', /^\/projects\/[^/]+\/eval-suites$/],
  cases: ['GET', /^\/projects\/[^/]+\/eval-suites\/[^/]+\/cases$/],
  'suite-runs': ['GET', /^\/projects\/[^/]+\/eval-suites\/[^/]+\/runs$/],
  run: ['POST', /^\/projects\/[^/]+\/eval-runs$/],
  poll: ['GET', /^\/projects\/[^/]+\/eval-runs\/[^/]+$/],
  cancel: ['POST', /^\/projects\/[^/]+\/eval-runs\/[^/]+\/cancel$/],
  page: ['GET', /^\/projects\/[^/]+\/eval-runs\/[^/]+\/iterations$/],
  steps: ['GET', /^\/projects\/[^/]+\/eval-runs\/[^/]+\/iterations\/[^/]+\/steps$/],
  trace: ['GET', /^\/projects\/[^/]+\/eval-runs\/[^/]+\/iterations\/[^/]+\/trace$/],
} as const satisfies Record<string, readonly [method: string, path: RegExp]>;

export type Route = keyof typeof routes;

/** Finds the route of a request. `path` starts after the API's version. Null for requests that never get a fault. */
export function findRoute(method: string, path: string): Route | null {
  const found = Object.entries(routes).find(([, [verb, pattern]]) => verb === method && pattern.test(path));
  return (found?.[0] as Route | undefined) ?? null;
}
