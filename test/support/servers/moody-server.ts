/** A server whose process is broken for its whole life if its number, counted in a file, is among the arguments. */
export const moodyServer = `
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
const [log, ...broken] = process.argv.slice(2);
let count = 0;
const begin = () => {
  appendFileSync(log, 'x');
  count = readFileSync(log, 'utf8').length;
};
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method } = JSON.parse(line);
  if (id === undefined) continue;
  const answer = (result) => console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
  if (method === 'initialize')
    answer({ protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'moody', version: '1' } });
  else if (method === 'tools/list') answer({ tools: [{ name: 'ask', inputSchema: { type: 'object' } }] });
  else if (method === 'tools/call') {
    if (count === 0) begin();
    answer({ content: [{ type: 'text', text: broken.includes(String(count)) ? 'bad' : 'good' }] });
  } else console.log(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'no' } }));
}
`;
