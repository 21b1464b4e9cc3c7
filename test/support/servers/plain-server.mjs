/**
 * An MCP server on stdio without an SDK, for tests that start many processes. Its tools show what a bridge does to it, and work as those
 * of stdio-server.ts with their names. `IMPATIENCE_MS` ends a server that has received nothing for that long after its start.
 */
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

let counter = 0;
const held = [];
const never = new Promise(() => {});

const tools = {
  echo: async ({ value, delayMs = 0 }) => {
    await sleep(delayMs);
    return value;
  },
  hold: () => new Promise((resolve) => held.push(resolve)),
  held: () => held.length,
  release: ({ value }) => {
    for (const answer of held.splice(0)) answer(value);
    return 'released';
  },
  pid: () => process.pid,
  count: () => (counter += 1),
  leave: ({ code }) => {
    setTimeout(() => process.exit(code), 20);
    return 'bye';
  },
  crash: ({ code }) => process.exit(code),
  hang: () => never,
  spin: () => {
    for (;;) Date.now();
  },
};

const requireFields = (params, names) => {
  const missing = names.find((name) => params[name] === undefined);
  if (missing !== undefined) throw Object.assign(new Error(`There is no ${missing}.`), { code: -32_602 });
};

const methods = {
  initialize: (params) => {
    requireFields(params, ['protocolVersion', 'capabilities', 'clientInfo']);
    const serverInfo = { name: 'plain-server', version: '1.2.3' };
    return { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo };
  },
  ping: () => ({}),
  'tools/list': () => ({ tools: Object.keys(tools).map((name) => ({ name, inputSchema: { type: 'object' } })) }),
  'tools/call': async ({ name, arguments: args = {} }) => {
    const value = await tools[name](args);
    return { content: [{ type: 'text', text: JSON.stringify(value) }] };
  },
};

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

createInterface({ input: process.stdin }).on('line', async (line) => {
  const { id, method, params = {} } = JSON.parse(line);
  if (id === undefined || method === undefined) return;
  if (methods[method] === undefined) return send({ id, error: { code: -32_601, message: 'Method not found' } });
  try {
    send({ id, result: await methods[method](params) });
  } catch ({ code = -32_603, message }) {
    send({ id, error: { code, message } });
  }
});

const impatienceMs = Number(process.env['IMPATIENCE_MS'] ?? 0);
if (impatienceMs > 0) {
  const leaving = setTimeout(() => process.exit(5), impatienceMs);
  process.stdin.once('data', () => clearTimeout(leaving));
}
process.stderr.write(`plain-server ${process.pid} is up\n`);
