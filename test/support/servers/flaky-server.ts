import { once } from 'node:events';
import { text } from './fixture-mcp-server.ts';
import { type LightMcpServer, type LightTool, startLightMcpServer } from './light-mcp-server.ts';

/** A tool's reaction to a call: it answers, answers with an error, breaks the connection, or answers when it is cancelled. */
export type Behaviour = 'passes' | 'fails' | 'breaks' | 'hangs';

export interface FlakyServer extends LightMcpServer {
  /** The number of calls of each tool. */
  countCalls(): Record<string, number>;
}

/** Starts an MCP server whose tools follow their script call by call; further calls repeat the last entry. */
export async function startFlakyServer(scripts: Readonly<Record<string, readonly Behaviour[]>>): Promise<FlakyServer> {
  const calls = new Map(Object.keys(scripts).map((name) => [name, 0]));
  const tools = Object.fromEntries(
    Object.entries(scripts).map(([name, script]): [string, LightTool] => [
      name,
      {
        call: async ({ dropConnections, signal }) => {
          const index = calls.get(name) ?? 0;
          calls.set(name, index + 1);
          const behaviour = script[Math.min(index, script.length - 1)];
          if (behaviour === 'breaks') dropConnections();
          if (behaviour === 'hangs') await once(signal, 'abort');
          return behaviour === 'fails' ? { ...text('Not this time.'), isError: true } : text('ok');
        },
      },
    ]),
  );
  const server = await startLightMcpServer(tools);
  return { ...server, countCalls: () => Object.fromEntries(calls) };
}

/** Writes cases that each call the tool of their name, which must not fail. `runs` is the number of iterations; by default, the suite's. */
export function writeCallingCases(
  names: readonly string[],
  { head = '', runs = 1 }: { head?: string; runs?: number | null } = {},
): string {
  const cases = names.map(
    (name) => `  - id: ${name}
    title: Calls ${name}
${runs === null ? '' : `    runs: ${runs}\n`}    steps:
      - toolCall: ${name}
      - assert: noToolErrors
`,
  );
  return `suite: Flaky\n${head}cases:\n${cases.join('')}`;
}
