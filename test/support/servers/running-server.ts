import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { ClientOptions } from '@modelcontextprotocol/client';

import { systemClock } from '../../../src/base/time.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { anyProtocol } from '../../../src/model/protocol.ts';
import { openServer } from '../../../src/server/open.ts';
import { plainServerCommand, stdioServerPath } from './bundled-servers.ts';
import type { RunningServer, ServerContext, ServerOptions } from '../../../src/server/running-server.ts';

/** The command of the fixture server on stdio, run by the Node that runs the tests. */
export const stdioServerCommand = `${process.execPath} ${stdioServerPath}`;

/** Opens a server without an SDK, whose processes start in a third of the time. */
export function openPlainServer(
  overrides: Partial<ServerOptions> = {},
  context: Partial<ServerContext> = {},
): Promise<RunningServer> {
  return openTestServer({ command: plainServerCommand, ...overrides }, context);
}

/** Opens a server with defaults for all settings that the test does not set. */
export function openTestServer(
  overrides: Partial<ServerOptions> = {},
  context: Partial<ServerContext> = {},
): Promise<RunningServer> {
  const options: ServerOptions = {
    command: stdioServerCommand,
    url: null,
    cwd: process.cwd(),
    env: {},
    readyTimeoutMs: 30_000,
    isolation: 'iteration',
    protocol: anyProtocol,
    isWitnessed: true,
    sessions: { count: null, warmProcesses: 0, isExclusive: false },
    ...overrides,
  };
  const { signal } = new AbortController();
  return openServer(options, {
    clock: systemClock,
    logger: silentLogger,
    signal,
    environment: process.env,
    ...context,
  });
}

/** A connected client that ends its session when disposed. */
export interface TestClient extends AsyncDisposable {
  client: Client;
  transport: StreamableHTTPClientTransport;
  /** Calls a tool of the fixture server and parses the JSON of its answer. */
  call(name: string, args?: Record<string, unknown>, options?: Parameters<Client['callTool']>[1]): Promise<unknown>;
}

export async function connectClient(url: string, options: ClientOptions = {}, prepare?: (client: Client) => void) {
  const client = new Client({ name: 'test', version: '1.0.0' }, options);
  const transport = new StreamableHTTPClientTransport(new URL(url));
  prepare?.(client);
  await client.connect(transport);
  const test: TestClient = {
    client,
    transport,
    call: async (name, args = {}, callOptions) => {
      const { content } = await client.callTool({ name, arguments: args }, callOptions);
      const [first] = content as Array<{ text: string }>;
      return JSON.parse(first?.text ?? 'null');
    },
    [Symbol.asyncDispose]: async () => {
      await transport.terminateSession().catch(() => {});
      await client.close();
    },
  };
  return test;
}
