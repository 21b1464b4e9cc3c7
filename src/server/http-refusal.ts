import { ServerStartError } from '../base/errors.ts';
import type { Clock } from '../base/time.ts';
import type { ServerAccess } from '../mcp/access.ts';
import type { HandshakeError } from '../mcp/probe-http.ts';
import { explainAccessRefusal } from './access-refusal.ts';

/** The time for which a server may refuse every request: some listen before all their routes are ready. */
const refusalTimeoutMs = 5000;

/** The meaning of the statuses with which a server without an MCP endpoint at this URL answers every request. */
const lastingStatuses: ReadonlyMap<number, string> = new Map([
  [404, 'has nothing'],
  [405, 'does not allow the requests of MCP'],
]);

/** Follows the refusals of one server. */
export interface RefusalWatch {
  /** Resolves with the error that ends the wait; null if waiting may help. */
  explain(failure: HandshakeError): Promise<ServerStartError | null>;
}

/** Watches the refusals of the server at `url`: some are final, others only if they last. */
export function watchRefusals(
  url: string,
  {
    access = null,
    clock,
    signal,
    readStderr,
  }: { clock: Clock; signal: AbortSignal; readStderr: () => string[]; access?: ServerAccess | null | undefined },
): RefusalWatch {
  let status: number | null = null;
  let sinceMs = 0;
  const create = (message: string, hint: string) => new ServerStartError(message, { stderrTail: readStderr(), hint });

  return {
    explain: async ({ response, message }) => {
      const nowMs = clock.monotonicMs();
      const isNew = response?.status !== status;
      status = response?.status ?? null;
      if (isNew) sinceMs = nowMs;
      if (response === null) return null;
      if (response.location !== null) return createRedirectError(url, response, create);
      if (response.status === 401 || response.status === 403) {
        const { status, wwwAuthenticate } = response;
        const subject = `The server at ${describeUrl(url)}`;
        return await explainAccessRefusal(
          url,
          { status, wwwAuthenticate, message },
          { access, clock, signal, create: (predicate, hint) => create(`${subject} ${predicate}`, hint) },
        );
      }
      const meaning = lastingStatuses.get(response.status);
      if (meaning === undefined || nowMs - sinceMs < refusalTimeoutMs) return null;
      return explainWrongPath(url, `${meaning} at the path`, { status: response.status, create });
    },
  };
}

type Create = (message: string, hint: string) => ServerStartError;

function explainWrongPath(
  url: string,
  what: string,
  { status, create }: { status: number; create: Create },
): ServerStartError {
  const { origin, pathname } = new URL(url);
  return create(
    `A server answers at ${origin}, but ${what} ${pathname} (HTTP ${status}).`,
    `Give the path of its MCP endpoint in server-url${pathname === '/mcp' ? '.' : ', which often is /mcp.'}`,
  );
}

function createRedirectError(
  url: string,
  { status, location }: { status: number; location: string | null },
  create: Create,
): ServerStartError {
  const target = URL.parse(location ?? '', url);
  const what = `The server at ${describeUrl(url)} redirects`;
  if (target === null || !/^https?:$/.test(target.protocol)) {
    return create(
      `${what} to something that is no http URL (HTTP ${status}).`,
      'Give the URL of its MCP endpoint in `server-url`.',
    );
  }
  return create(
    `${what} to ${describeUrl(target.href)}${target.search === '' ? '' : '?…'} (HTTP ${status}), and the gate follows no redirects.`,
    'Give that URL in `server-url`.',
  );
}

/** Removes credentials and query, which may be secret. */
export function describeUrl(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}
