import { DeadlineError, describeError, NetworkError, ProtocolError } from '../../../src/base/errors.ts';
import type { Clock } from '../../../src/base/time.ts';
import type { ServerAccess } from '../../../src/mcp/access.ts';
import type { Target } from '../../../src/mcp/session.ts';
import { type ConnectedTarget, connectTarget } from '../../../src/runner/connect-target.ts';
import { ApiError } from './envelope.ts';
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
 * @throws {ApiError} SERVER_UNREACHABLE for the first server that did not answer as an MCP server; TIMEOUT if it did
 *   not answer at all.
 */
export async function connectTargets(
  servers: readonly ServerRecord[],
  context: { reach: ServerReach; clock: Clock },
): Promise<ReadonlyMap<string, ConnectedTarget>> {
  const distinct = new Map(servers.map((server) => [server.id, server]));
  return new Map(
    await Promise.all([...distinct].map(async ([id, server]) => [id, await connect(server, context)] as const)),
  );
}

async function connect(
  server: ServerRecord,
  { reach, clock }: { reach: ServerReach; clock: Clock },
): Promise<ConnectedTarget> {
  const { content } = server;
  const reached = await reach.open(server);
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
    if (error.cause instanceof DeadlineError) throw new ApiError('TIMEOUT', error.message);
    throw (
      reach.explain(server, error.cause) ?? new ApiError('SERVER_UNREACHABLE', describeError(error), { cause: error })
    );
  }
}
