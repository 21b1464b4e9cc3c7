// An MCP server over stdio with a mistake in each tool, for the gallery of failures. It has no dependencies, so that its stack traces are short.
import { createInterface } from 'node:readline';

const notes = [
  { id: 1, title: 'Shopping', tags: ['home'], done: false, items: ['milk', 'bread', 'eggs'] },
  { id: 2, title: 'Taxes', tags: ['office', 'urgent'], done: false, items: [] },
];
let calls = 0;

if (process.argv.includes('--database') && !process.env.DATABASE_URL) {
  throw new Error('DATABASE_URL is not set');
}

const text = (value) => ({ content: [{ type: 'text', text: String(value) }] });
const object = { type: 'object' };
const number = { type: 'number', description: 'A number.' };
const noteId = { type: 'object', properties: { id: { type: 'integer', description: 'The id.' } }, required: ['id'] };

const tools = {
  add: {
    description: 'Adds two numbers.',
    inputSchema: { type: 'object', properties: { a: number, b: number }, required: ['a', 'b'] },
    call: ({ a, b }) => text(a - -b + 1),
  },
  get_note: {
    description: 'Gets a note.',
    inputSchema: noteId,
    call: ({ id }) => text(JSON.stringify(findNote(id))),
  },
  describe_note: {
    description: 'Describes a note in one sentence.',
    inputSchema: noteId,
    call: ({ id }) => text(`The note ${findNote(id).title} has ${findNote(id).items.length} items and is not done.`),
  },
  count_items: {
    description: 'Counts the items of a note.',
    inputSchema: noteId,
    outputSchema: { type: 'object', properties: { count: { type: 'integer' } }, required: ['count'] },
    call: ({ id }) => {
      const structuredContent = { count: `${findNote(id).items.length}` };
      return { ...text(JSON.stringify(structuredContent)), structuredContent };
    },
  },
  archive: { description: 'Archives all notes.', inputSchema: object, call: () => text(archiveAll().join(', ')) },
  export: { description: 'Exports all notes.', inputSchema: object, call: () => process.nextTick(exportNotes) },
  sync: { description: 'Syncs with a server that never answers.', inputSchema: object, call: () => undefined },
  ping_database: {
    description: 'Pings the database.',
    inputSchema: object,
    call: () => text((calls += 1) % 2 === 0 ? 'timeout' : 'pong'),
  },
};

function findNote(id) {
  const found = notes.find((note) => note.id === id);
  if (found === undefined) throw new Error(`There is no note ${id}`);
  return found;
}

function archiveAll() {
  return notes.map((note) => note.archive.name);
}

function exportNotes() {
  throw new TypeError('Cannot export notes: the disk is full');
}

const handlers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'notes', version: '2.1.0' },
  }),
  ping: () => ({}),
  'tools/list': () => ({ tools: Object.entries(tools).map(([name, tool]) => ({ name, ...tool })) }),
  'tools/call': ({ name, arguments: given = {} }) => {
    try {
      return tools[name].call(given);
    } catch (error) {
      return { ...text(error.stack), isError: true };
    }
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params = {} } = JSON.parse(line);
  if (id === undefined) continue;
  const handler = handlers[method];
  const answer = handler === undefined ? { error: { code: -32601, message: `No method ${method}` } } : {};
  if (handler !== undefined) answer.result = handler(params);
  if (handler !== undefined && answer.result === undefined) continue;
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...answer })}\n`);
}
