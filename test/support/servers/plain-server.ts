/**
 * An MCP server on stdio without an SDK, which starts in less than half the CPU time of stdio-server.ts and has its tools that gates call
 * most. For tests of what the gate does with a server that it starts; tests of what is said to a server take stdio-server.ts.
 */
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

type Arguments = Record<string, unknown>;

let counter = 0;

const tools: Record<string, (args: Arguments) => unknown> = {
  echo: async ({ value, delayMs }) => {
    await sleep(Number(delayMs ?? 0));
    return value;
  },
  count: () => (counter += 1),
  environment: () => process.env,
  argv: () => process.argv.slice(2),
  crash: ({ code }) => process.exit(Number(code)),
  /** Never answers. */
  hang: () => new Promise(() => {}),
};

async function answer(method: string, params: { name?: string; arguments?: Arguments }): Promise<object> {
  switch (method) {
    case 'initialize': {
      const serverInfo = { name: 'plain-server', version: '1.2.3' };
      return { result: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo } };
    }
    case 'ping':
      return { result: {} };
    case 'tools/list':
      return { result: { tools: Object.keys(tools).map((name) => ({ name, inputSchema: { type: 'object' } })) } };
    case 'tools/call': {
      const value = await tools[params.name ?? '']?.(params.arguments ?? {});
      return { result: { content: [{ type: 'text', text: JSON.stringify(value) }] } };
    }
    default:
      return { error: { code: -32_601, message: 'Method not found' } };
  }
}

process.stderr.write(`plain-server ${process.pid} is up\n`);
createInterface({ input: process.stdin })
  .on('line', (line) => {
    const { id, method, params = {} } = JSON.parse(line);
    if (id === undefined) return;
    void answer(method, params).then((said) =>
      process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...said })}\n`),
    );
  })
  // As a server of the SDK does when its stdin ends, whatever it has not answered.
  .on('close', () => process.exit());
