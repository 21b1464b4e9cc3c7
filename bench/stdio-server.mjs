// The server of the stdio benchmark: speaks MCP 2025-11-25 without an SDK, so that its own start weighs little in the cost of an iteration.
import { createInterface } from 'node:readline';

const tool = { name: 'echo', inputSchema: { type: 'object', properties: { message: { type: 'string' } } } };

function answer({ method, params }) {
  if (method === 'initialize') {
    const serverInfo = { name: 'bench', version: '1.0.0' };
    return { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo };
  }
  if (method === 'tools/list') return { tools: [tool] };
  if (method === 'tools/call') return { content: [{ type: 'text', text: `Echo: ${params.arguments.message}` }] };
  return {};
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const request = JSON.parse(line);
  if (request.id === undefined) return;
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: request.id, result: answer(request) })}\n`);
});
