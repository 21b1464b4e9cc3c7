/**
 * An MCP server on stdio without an SDK, whose tools are its arguments. A tool returns its argument `text`. A tool whose name starts with `end`
 * ends the process, and one whose name starts with `hang` never answers. `dead` as the only argument ends the process at once.
 */
import { createInterface } from 'node:readline';

const names = process.argv.slice(2);
if (names.includes('dead')) process.exit(7);

const send = (id, body) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...body })}\n`);
const inputSchema = { type: 'object' };
const serverInfo = { name: `server of ${names[0]}`, version: '1.0.0' };
const answers = {
  initialize: () => ({ protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo }),
  'tools/list': () => ({ tools: names.map((name) => ({ name, inputSchema })) }),
  ping: () => ({}),
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  if (method === 'tools/call') {
    if (params.name.startsWith('end')) process.exit(9);
    if (params.name.startsWith('hang')) return;
    return send(id, { result: { content: [{ type: 'text', text: String(params.arguments?.text) }] } });
  }
  const answer = answers[method]?.();
  send(id, answer === undefined ? { error: { code: -32_601, message: 'Method not found' } } : { result: answer });
});
