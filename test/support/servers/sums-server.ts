import { type FixtureMcpServer, startFixtureMcpServer, text } from './fixture-mcp-server.ts';

/**
 * Starts a server in the test's process with three tools that answer like those of server-everything. `greenEvals` pass on it, and prompts can
 * request a sum.
 */
export function startSumsServer(): Promise<FixtureMcpServer> {
  return startFixtureMcpServer(
    {
      echo: { call: ({ args }) => text(`Echo: ${String(args['message'])}`) },
      'get-sum': {
        description: 'Returns the sum of two numbers',
        inputSchema: {
          type: 'object',
          properties: { a: { type: 'number' }, b: { type: 'number' } },
          required: ['a', 'b'],
        },
        call: ({ args: { a, b } }) =>
          typeof a === 'number' && typeof b === 'number'
            ? text(`The sum of ${a} and ${b} is ${a + b}.`)
            : { ...text('Expected number'), isError: true },
      },
      /** Ends only when it is cancelled. */
      'trigger-long-running-operation': {
        call: ({ signal }) =>
          new Promise((resolve) => {
            signal.addEventListener('abort', () => resolve(text('cancelled')));
          }),
      },
    },
    { era: 'modern' },
  );
}
