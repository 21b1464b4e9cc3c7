import { ServerStartError } from '../base/errors.ts';
import type { HandshakeError } from '../mcp/probe-http.ts';

/** How long a server may refuse every request: some listen before they know all their routes. */
const refusalTimeoutMs = 5000;

/** Statuses that say that no MCP server will ever answer this request at this URL. */
const lastingStatuses: ReadonlySet<number | undefined> = new Set([401, 403, 404, 405]);

/** What the refusals of one server amount to. */
export interface RefusalWatch {
  /** Returns the error that ends the wait; null where waiting makes sense. */
  explain(failure: HandshakeError, nowMs: number): ServerStartError | null;
}

/** Watches the refusals of the server at `url`: some of them are final, others once they have lasted. */
export function watchRefusals(url: string, { readStderr }: { readStderr: () => string[] }): RefusalWatch {
  let status: number | null = null;
  let sinceMs = 0;
  const create = (message: string, hint: string) => new ServerStartError(message, { stderrTail: readStderr(), hint });

  return {
    explain: ({ response, message }, nowMs) => {
      const isNew = response?.status !== status;
      status = response?.status ?? null;
      if (isNew) sinceMs = nowMs;
      if (response === null) return null;
      if (response.location !== null) return createRedirectError(url, response, create);
      if (!lastingStatuses.has(response.status)) return null;
      const isOver = nowMs - sinceMs >= refusalTimeoutMs;
      return isOver ? explainLasting(url, { status: response.status, message }, create) : null;
    },
  };
}

type Create = (message: string, hint: string) => ServerStartError;

function explainLasting(
  url: string,
  { status, message }: { status: number; message: string },
  create: Create,
): ServerStartError | null {
  const { origin, pathname, host } = new URL(url);
  const shownUrl = describeUrl(url);
  const start = 'start the server without authorization in this job, for example with a setting in `server-env`';
  if (status === 401) {
    return create(
      `The server at ${shownUrl} asks for authorization: ${message}.`,
      `The gate sends no credentials; ${start}.`,
    );
  }
  if (status === 403) {
    return create(
      `The server at ${shownUrl} refuses the gate: ${message}.`,
      `Have it accept the Host header ${host}. If it asks for authorization: the gate sends no credentials; ${start}.`,
    );
  }
  if (status !== 404) return null;
  return create(
    `A server answers at ${origin}, but has nothing at the path ${pathname} (HTTP 404).`,
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

/** Without credentials and query, which may be secret. */
export function describeUrl(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}
