/**
 * An MCP server on stdio without an SDK, which starts in less than half the CPU time of stdio-server.ts and has the tools of it that tests
 * call most, with the same names. For tests of what happens to the processes of a server; tests of what is said to one take
 * stdio-server.ts. `IMPATIENCE_MS` ends a server that has received nothing for that long after its start.
 */
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

type Arguments = Record<string, unknown>;

interface Message {
  id?: number;
  method: string;
  params?: { name?: string; arguments?: Arguments };
}

const invalidParams = -32_602;
const methodNotFound = -32_601;

let counter = 0;
const held: Array<(value: unknown) => void> = [];

const tools: Record<string, (args: Arguments) => unknown> = {
  echo: async ({ value, delayMs }) => {
    await sleep(Number(delayMs ?? 0));
    return value;
  },
  /** Answers when `release` is called. */
  hold: () => new Promise((resolve) => held.push(resolve)),
  held: () => held.length,
  release: ({ value }) => {
    for (const answer of held.splice(0)) answer(value);
    return 'released';
  },
  count: () => (counter += 1),
  pid: () => process.pid,
  environment: () => process.env,
  argv: () => process.argv.slice(2),
  crash: ({ code }) => process.exit(Number(code)),
  /** Ends after its answer. */
  leave: ({ code }) => {
    setTimeout(() => process.exit(Number(code)), 20);
    return 'bye';
  },
  /** Never answers. */
  hang: () => new Promise(() => {}),
  /** Never does anything again. */
  spin: () => {
    for (;;) Date.now();
  },
};

async function answer({ method, params = {} }: Message): Promise<object> {
  switch (method) {
    case 'initialize': {
      const missing = ['protocolVersion', 'capabilities', 'clientInfo'].find((name) => !(name in params));
      if (missing !== undefined) return { error: { code: invalidParams, message: `There is no ${missing}.` } };
      const serverInfo = { name: 'plain-server', version: '1.2.3' };
      return { result: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo } };
    }
    case 'ping':
      return { result: {} };
    case 'tools/list':
      return { result: { tools: Object.keys(tools).map((name) => ({ name, inputSchema: { type: 'object' } })) } };
    case 'tools/call': {
      const tool = tools[params.name ?? ''];
      if (tool === undefined) return { error: { code: invalidParams, message: `There is no tool ${params.name}.` } };
      const value = await tool(params.arguments ?? {});
      return { result: { content: [{ type: 'text', text: JSON.stringify(value) }] } };
    }
    default:
      return { error: { code: methodNotFound, message: 'Method not found' } };
  }
}

createInterface({ input: process.stdin })
  .on('line', async (line) => {
    const message = JSON.parse(line) as Message;
    if (message.id === undefined) return;
    const said = await answer(message);
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: message.id, ...said })}\n`);
  })
  // As a server of the SDK does when its stdin ends, whatever it has not answered.
  .on('close', () => process.exit());

const impatienceMs = Number(process.env['IMPATIENCE_MS'] ?? 0);
if (impatienceMs > 0) {
  const leaving = setTimeout(() => process.exit(5), impatienceMs);
  process.stdin.once('data', () => clearTimeout(leaving));
}
process.stderr.write(`plain-server ${process.pid} is up\n`);
