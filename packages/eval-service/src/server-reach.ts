import { ServerStartError } from '../../../src/base/errors.ts';
import type { ServerAccess } from '../../../src/mcp/access.ts';
import { readRefusalStatus } from '../../../src/mcp/faults.ts';
import { currentCaller } from './callers.ts';
import type { ServerReach } from './connect.ts';
import { ApiError, notSupported } from './envelope.ts';
import type { TokenBook } from './oauth-tokens.ts';
import type { ServerRecord } from './store/server-store.ts';

/** The reach of a service with the whole API. */
export interface FullReach extends ServerReach {
  /** Opens a server like `open`, but does not require a grant: the server answers itself if it needs one. */
  openAsIs(server: ServerRecord): Promise<{ url: string; access: ServerAccess | null }>;
}

/**
 * Reaches servers with the tokens of the caller, and starts commands if the service may. No refusal contains the command of a record or its
 * output.
 */
export function createServerReach({
  tokens,
  commands,
}: {
  tokens: TokenBook;
  commands: CommandServers | null;
}): FullReach {
  const openAsIs = async (server: ServerRecord) => {
    if (server.content.transportType === 'stdio') return { url: await startCommand(server, commands), access: null };
    return { url: server.content.url ?? '', access: tokens.find(server, currentCaller.getStore()) };
  };
  return {
    openAsIs,
    open: async (server) => {
      const opened = await openAsIs(server);
      if (server.content.useOAuth === true && opened.access === null) throw requireGrant(server);
      return opened;
    },
    explain: (server, error) => {
      const status = readRefusalStatus(error);
      if (status === null) return null;
      const hasOwnHeader = Object.keys(server.content.headers ?? {}).some((name) => /^authorization$/i.test(name));
      const isGrant = status === 401 && !(hasOwnHeader && server.content.useOAuth !== true);
      return isGrant ? requireGrant(server) : createRefusal(server, status);
    },
  };
}

function requireGrant({ id, content }: ServerRecord): ApiError {
  const message = `Server ${JSON.stringify(content.name)} needs an OAuth grant; import tokens for it.`;
  return new ApiError('OAUTH_REQUIRED', message, { details: { serverId: id } });
}

function createRefusal({ id, content }: ServerRecord, status: number): ApiError {
  const message = `Server ${JSON.stringify(content.name)} refuses the credentials of its record with HTTP ${status}.`;
  return new ApiError('FORBIDDEN', message, { details: { serverId: id } });
}

async function startCommand(server: ServerRecord, commands: CommandServers | null): Promise<string> {
  const label = `Server ${JSON.stringify(server.content.name)}`;
  if (commands === null) {
    throw notSupported(
      `${label} speaks stdio, and the service starts commands of records only with \`serve --allow-stdio\`; start it behind a bridge and save its URL.`,
    );
  }
  try {
    return await commands.open(server);
  } catch (error) {
    const code = error instanceof ServerStartError ? error.processExitCode : null;
    const end = code === null ? '' : ` It exited with code ${code}.`;
    throw new ApiError('SERVER_UNREACHABLE', `${label} did not start from its command.${end}`, { cause: error });
  }
}

/** Starts the commands of server records, and keeps them running until it is disposed. */
export interface CommandServers extends AsyncDisposable {
  /**
   * Resolves to the URL at which the server answers. Each session there has a separate process.
   *
   * @throws {ServerStartError} if it does not start
   * @throws {ConfigurationError} if its command cannot be read
   */
  open(server: ServerRecord): Promise<string>;
}
