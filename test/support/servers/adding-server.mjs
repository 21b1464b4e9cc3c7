/**
 * An MCP server without an SDK, with the `echo` and `get-sum` of server-everything; it starts in a third of the CPU time. It uses HTTP if `PORT`
 * is set, else stdio. `trigger-long-running-operation` never answers. With the argument `worse`, `echo` returns another word.
 */
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';
import { json } from 'node:stream/consumers';

const word = process.argv.includes('worse') ? 'Answer' : 'Echo';
const say = (text, isError = false) => ({ content: [{ type: 'text', text }], isError });
const number = { type: 'number' };
const tools = [
  {
    name: 'echo',
    inputSchema: { type: 'object', properties: { message: { type: 'string' } }, required: ['message'] },
    annotations: { readOnlyHint: true },
  },
  {
    name: 'get-sum',
    inputSchema: { type: 'object', properties: { a: number, b: number }, required: ['a', 'b'] },
    annotations: { readOnlyHint: true },
  },
  { name: 'trigger-long-running-operation', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } },
];
const calls = {
  echo: ({ message }) => say(`${word}: ${message}`),
  'get-sum': ({ a, b }) =>
    typeof a === 'number' && typeof b === 'number'
      ? say(`The sum of ${a} and ${b} is ${a + b}.`)
      : say('Expected numbers.', true),
  'trigger-long-running-operation': () => new Promise(() => {}),
};
const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'adding-server', version: '1.0.0' },
  }),
  ping: () => ({}),
  'tools/list': () => ({ tools }),
  'tools/call': (params) => calls[params.name]?.(params.arguments ?? {}) ?? say(`There is no ${params.name}.`, true),
};

/** Returns null for a notification. */
async function answer({ id, method, params }) {
  if (id === undefined || method === undefined) return null;
  const result = await answers[method]?.(params);
  const body = result === undefined ? { error: { code: -32_601, message: 'Method not found' } } : { result };
  return { jsonrpc: '2.0', id, ...body };
}

if (process.env.PORT === undefined) {
  createInterface({ input: process.stdin }).on('line', async (line) => {
    const message = await answer(JSON.parse(line));
    if (message !== null) process.stdout.write(`${JSON.stringify(message)}\n`);
  });
} else {
  createServer(async (request, response) => {
    const message = request.method === 'POST' ? await answer(await json(request)) : null;
    if (message !== null) response.setHeader('content-type', 'application/json').end(JSON.stringify(message));
    else response.writeHead(request.method === 'POST' ? 202 : 405).end();
  }).listen(process.env.PORT, '127.0.0.1');
}
