import { endSentence } from '../../../src/base/text.ts';
import type { Clock } from '../../../src/base/time.ts';
import { describeUnreachable } from '../../../src/mcp/faults.ts';
import { openSession, type Session } from '../../../src/mcp/session.ts';
import type { ToolDeclaration } from '../../../src/mcp/tool-declarations.ts';
import type { ConnectedTarget } from '../../../src/runner/connect-target.ts';
import { ApiError } from './envelope.ts';
import type { ServerRecord } from './store/server-store.ts';

/** Connects to servers as runs do, and returns them by id. */
export type ConnectServers = (servers: readonly ServerRecord[]) => Promise<ReadonlyMap<string, ConnectedTarget>>;

/** A session with a server, and the server's tools for models. Disposing it ends the session. */
export interface ServerTools extends AsyncDisposable {
  server: ServerRecord;
  tools: ReadonlyMap<string, ToolDeclaration>;
  callTool: Session['callTool'];
}

/**
 * Opens a session with a server and lists its tools.
 *
 * @throws {ApiError} SERVER_UNREACHABLE if it does not answer as an MCP server.
 * @throws the signal's reason once it aborts
 */
export async function openServerTools(
  server: ServerRecord,
  { connect, clock, signal }: { connect: ConnectServers; clock: Clock; signal: AbortSignal },
): Promise<ServerTools> {
  const connected = (await connect([server])).get(server.id);
  if (connected === undefined) throw new Error(`Server ${server.id} was not connected to.`);
  const name = JSON.stringify(server.content.name);
  const session = await openSession(connected.target, { clock, signal }).catch((error: unknown) => {
    throw explain(error, `A session with server ${name} could not be opened`, signal);
  });
  try {
    const listed = (await session.listTools({ signal })) ?? new Map<string, ToolDeclaration>();
    const tools = new Map([...listed].filter(([, { isForModels }]) => isForModels));
    return {
      server,
      tools,
      callTool: (toolName, args, options) => session.callTool(toolName, args, options),
      [Symbol.asyncDispose]: () => session[Symbol.asyncDispose](),
    };
  } catch (error) {
    await session[Symbol.asyncDispose]();
    throw explain(error, `Server ${name} did not list its tools`, signal);
  }
}

function explain(error: unknown, what: string, signal: AbortSignal): ApiError {
  signal.throwIfAborted();
  const message = endSentence(`${what}: ${describeUnreachable(error)}`);
  return new ApiError('SERVER_UNREACHABLE', message, { cause: error });
}
