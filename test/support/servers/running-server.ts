import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { ClientOptions, Transport } from '@modelcontextprotocol/client';

import { systemClock } from '../../../src/base/time.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { createChannelTransport } from '../../../src/mcp/channel.ts';
import { createIterationBudget } from '../../../src/mcp/session.ts';
import { anyProtocol } from '../../../src/model/protocol.ts';
import { openServer } from '../../../src/server/open-server.ts';
import { plainServerCommand, stdioServerPath } from './bundled-servers.ts';
import type { RunningServer, ServerContext, ServerOptions } from '../../../src/server/running-server.ts';

/** The command of the fixture server on stdio, run by the Node that runs the tests. */
export const stdioServerCommand = `${process.execPath} ${stdioServerPath}`;

/** Opens a server without an SDK, whose processes start in a third of the time. */
export function openPlainServer(
  overrides: Partial<ServerOptions> = {},
  context: Partial<ServerContext> = {},
): Promise<TestServer> {
  return openTestServer({ command: plainServerCommand, ...overrides }, context);
}

/** A server that is served over HTTP, even if it speaks stdio. */
export type TestServer = RunningServer & { url: string };

/** Opens a server with defaults for all settings that the test does not set. */
export async function openTestServer(
  overrides: Partial<ServerOptions> = {},
  context: Partial<ServerContext> = {},
): Promise<TestServer> {
  const options: ServerOptions = {
    command: stdioServerCommand,
    url: null,
    cwd: process.cwd(),
    env: {},
    readyTimeoutMs: 300_000,
    isolation: 'iteration',
    protocol: anyProtocol,
    isWitnessed: true,
    sessions: { count: null, warmProcesses: 0, isExclusive: false },
    ...overrides,
  };
  const { signal } = new AbortController();
  const running = await openServer(options, {
    clock: systemClock,
    logger: silentLogger,
    signal,
    environment: process.env,
    ...context,
  });
  return Object.assign(running, { url: await running.openUrl() });
}

/** A connected client that ends its session when disposed. */
export interface TestClient<Connection extends Transport = Transport> extends AsyncDisposable {
  client: Client;
  transport: Connection;
  /** Calls a tool of the fixture server and parses the JSON of its answer. */
  call(name: string, args?: Record<string, unknown>, options?: Parameters<Client['callTool']>[1]): Promise<unknown>;
}

/** Connects over HTTP. */
export async function connectClient(url: string, options?: ClientOptions, prepare?: (client: Client) => void) {
  return await connect(new StreamableHTTPClientTransport(new URL(url)), options, prepare);
}

/** Connects to a server on stdio through the pipes of its process, as a gate does. */
export async function connectByPipes(
  { endpoint: { channel } }: Pick<RunningServer, 'endpoint'>,
  options?: ClientOptions,
  prepare?: (client: Client) => void,
) {
  if (channel === undefined) throw new TypeError('The server is reached over HTTP.');
  return await connect(createChannelTransport(channel, createIterationBudget()), options, prepare);
}

async function connect<Connection extends Transport>(
  transport: Connection,
  options: ClientOptions = {},
  prepare?: (client: Client) => void,
) {
  const client = new Client({ name: 'test', version: '1.0.0' }, options);
  prepare?.(client);
  await client.connect(transport);
  const test: TestClient<Connection> = {
    client,
    transport,
    call: async (name, args = {}, callOptions) => {
      const { content } = await client.callTool({ name, arguments: args }, callOptions);
      const [first] = content as Array<{ text: string }>;
      return JSON.parse(first?.text ?? 'null');
    },
    [Symbol.asyncDispose]: async () => {
      if (transport instanceof StreamableHTTPClientTransport) await transport.terminateSession().catch(() => {});
      await client.close();
    },
  };
  return test;
}
