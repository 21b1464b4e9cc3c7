import { startFixtureMcpServer, text, type FixtureMcpServer } from './fixture-mcp-server.ts';

/** An MCP server with a tool for each possible result of a case. `hang` answers only when it is cancelled. */
export function startEchoServer(options: { era?: 'legacy' | 'modern' } = {}): Promise<FixtureMcpServer> {
  return startFixtureMcpServer(
    {
      echo: { call: ({ args }) => text(JSON.stringify(args)) },
      fail: { call: () => ({ ...text('It broke.'), isError: true }) },
      drop: {
        call: ({ dropConnections }) => {
          dropConnections();
          return text('never seen');
        },
      },
      hang: {
        call: ({ signal }) =>
          new Promise((resolve) => {
            signal.addEventListener('abort', () => resolve(text('cancelled')));
          }),
      },
    },
    options,
  );
}
