// A server over stdio that writes a note into the file that its first argument names. It expands a leading `~` or `$TMPDIR`.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, resolve } from 'node:path';
import { createInterface } from 'node:readline';

const [, , given = 'note'] = process.argv;
const file = resolve(given.replace(/^~/, homedir()).replace(/^\$TMPDIR/, tmpdir()));

function keepNote() {
  if (existsSync(file)) return `There is a note already in ${file}.`;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, 'a note');
  return 'kept';
}

const tools = [
  { name: 'keep', inputSchema: { type: 'object' } },
  { name: 'where', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } },
];

const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'notes', version: '1' },
  }),
  'tools/list': () => ({ tools }),
  'tools/call': ({ name }) => ({ content: [{ type: 'text', text: name === 'keep' ? keepNote() : file }] }),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const answer = answers[method];
  const body =
    answer === undefined ? { error: { code: -32601, message: 'unknown' } } : { result: answer(params ?? {}) };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...body })}\n`);
}
