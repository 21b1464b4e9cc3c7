import { DeadlineError, describeError, NetworkError, ProtocolError } from '../../../src/base/errors.ts';
import type { Clock } from '../../../src/base/time.ts';
import type { ServerAccess } from '../../../src/mcp/access.ts';
import type { Target } from '../../../src/mcp/session.ts';
import { type ConnectedTarget, connectTarget } from '../../../src/runner/connect-target.ts';
import { ApiError, notSupported } from './envelope.ts';
import type { ServerRecord } from './store/server-store.ts';

/** The access of a service to servers: it adds the caller's tokens, and starts servers that are commands. */
export interface ServerReach {
  /** @throws {ApiError} if the service or the caller cannot use the server */
  open(server: ServerRecord): Promise<{ url: string; access: ServerAccess | null }>;
  /** Returns the refusal for a failure of the server; null if the failure is not about authorization. */
  explain(server: ServerRecord, error: unknown): ApiError | null;
}

/**
 * Connects to each server once and returns the targets for the engine, by server id, with the detected protocol: the run's iterations need
 * not detect it again.
 *
 * @throws {ApiError} SERVER_UNREACHABLE for the first server that did not answer as an MCP server; TIMEOUT if the service has an inventory
 *   and the server did not answer at all.
 */
export async function connectTargets(
  servers: readonly ServerRecord[],
  context: { reach: ServerReach | null; clock: Clock },
): Promise<ReadonlyMap<string, ConnectedTarget>> {
  const distinct = new Map(servers.map((server) => [server.id, server]));
  return new Map(
    await Promise.all([...distinct].map(async ([id, server]) => [id, await connect(server, context)] as const)),
  );
}

/** @throws {ApiError} FEATURE_NOT_SUPPORTED for a server that needs a service with a reach */
function requireUrl({ content }: ServerRecord): string {
  const label = `Server ${JSON.stringify(content.name)}`;
  if (content.transportType === 'stdio') {
    throw notSupported(
      `${label} speaks stdio, and this service reaches servers over HTTP alone; start it behind a bridge and save its URL.`,
    );
  }
  if (content.useOAuth === true) throw notSupported(`${label} wants OAuth, and this service cannot sign in anywhere.`);
  return content.url ?? '';
}

async function connect(
  server: ServerRecord,
  { reach, clock }: { reach: ServerReach | null; clock: Clock },
): Promise<ConnectedTarget> {
  const { content } = server;
  const reached = (await reach?.open(server)) ?? { url: requireUrl(server), access: null };
  const target: Target = {
    url: reached.url,
    serverName: content.name,
    protocol: 'auto',
    access: reached.access,
    ...(content.headers === undefined ? {} : { headers: content.headers }),
  };
  try {
    return await connectTarget(target, { witness: null, clock });
  } catch (error) {
    if (!(error instanceof NetworkError || error instanceof ProtocolError)) throw error;
    // Without a reach, the error stays SERVER_UNREACHABLE: a gate then asks again until its own deadline, as for any unreachable server.
    if (reach !== null && error.cause instanceof DeadlineError) throw new ApiError('TIMEOUT', error.message);
    const refusal = reach?.explain(server, error.cause) ?? null;
    throw refusal ?? new ApiError('SERVER_UNREACHABLE', describeError(error), { cause: error });
  }
}
