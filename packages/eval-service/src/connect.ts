import { DeadlineError, describeError, NetworkError, ProtocolError } from '../../../src/base/errors.ts';
import type { Clock } from '../../../src/base/time.ts';
import type { ServerAccess } from '../../../src/mcp/access.ts';
import type { Target } from '../../../src/mcp/session.ts';
import { type ConnectedTarget, connectTarget } from '../../../src/runner/connect-target.ts';
import { ApiError, notSupported } from './envelope.ts';
import type { ServerRecord } from './store/servers.ts';

/** What lets the requests of a caller into servers, and starts those that are commands. */
export interface ServerReach {
  /** @throws {ApiError} where the service or the caller cannot use the server */
  open(server: ServerRecord): Promise<{ url: string; access: ServerAccess | null }>;
  /** The refusal that stands for a failure of the server; null where it is none of authorization. */
  explain(server: ServerRecord, error: unknown): ApiError | null;
}

/**
 * Connects to each server once and returns it as the engine reaches it, by server id, with the protocol it turned out
 * to speak: the run's iterations need not find out again.
 *
 * @throws {ApiError} SERVER_UNREACHABLE naming the first one that did not answer as an MCP server does; TIMEOUT where the whole API is
 *   served and it did not answer at all.
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

/** @throws {ApiError} FEATURE_NOT_SUPPORTED for a server that only a service with a reach can use */
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
    // A gate asks again as long as its own deadline allows, as with any server that is out of reach.
    if (reach !== null && error.cause instanceof DeadlineError) throw new ApiError('TIMEOUT', error.message);
    const refusal = reach?.explain(server, error.cause) ?? null;
    throw refusal ?? new ApiError('SERVER_UNREACHABLE', describeError(error), { cause: error });
  }
}
