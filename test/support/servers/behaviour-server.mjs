/** An MCP server on stdio without an SDK. Tests of behaviour copy it and change a few texts in one copy. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const text = (value) => ({ content: [{ type: 'text', text: value }] });
const structured = (value) => ({ ...text(JSON.stringify(value)), structuredContent: value });
const failure = (value) => ({ ...text(value), isError: true });
const object = (properties, required = Object.keys(properties)) => ({ type: 'object', properties, required });
const string = { type: 'string' };
const reads = { readOnlyHint: true };

const notes = new Map();

const tools = {
  add_note: {
    schema: object({ title: string, body: string }, ['title']),
    hints: { readOnlyHint: false, destructiveHint: false },
    call: ({ title, body = '' }) => {
      notes.set(title, { title, body, createdAt: new Date().toISOString() });
      return structured({ added: title, count: notes.size });
    },
  },
  list_notes: {
    hints: reads,
    call: () => structured({ notes: [...notes.values()].map(({ title, body }) => ({ title, size: body.length })) }),
  },
  get_note: {
    schema: object({ title: string }),
    hints: reads,
    call: ({ title }) => (notes.has(title) ? structured(notes.get(title)) : failure(`There is no note ${title}.`)),
  },
  search_notes: {
    schema: object({ query: string }),
    hints: reads,
    call: ({ query }) =>
      structured({
        query,
        found: [...notes.values()]
          .filter(({ title }) => title.includes(query))
          .map(({ title, body }) => ({ title, body })),
      }),
  },
  remove_note: {
    schema: object({ title: string }),
    hints: { readOnlyHint: false, destructiveHint: true },
    call: ({ title }) => (notes.delete(title) ? text(`Removed ${title}.`) : failure(`There is no note ${title}.`)),
  },
  sum: {
    schema: object({ a: { type: 'number' }, b: { type: 'number' } }),
    hints: reads,
    call: ({ a, b }) => structured({ sum: a + b, terms: 2 }),
  },
  list_colours: { hints: reads, call: () => structured({ colours: ['red', 'green', 'blue'] }) },
  describe_word: {
    schema: object({ word: string, style: { type: 'string', enum: ['plain', 'loud'], default: 'plain' } }, ['word']),
    hints: reads,
    call: ({ word, style = 'plain' }) =>
      text(`The word ${style === 'loud' ? word.toUpperCase() : word} has ${word.length} letters.`),
  },
  show_time: {
    hints: reads,
    call: () => structured({ now: new Date().toISOString(), random: Math.random(), unit: 's' }),
  },
  list_files: {
    hints: reads,
    call: () => text(readdirSync('.').toSorted().join('\n')),
  },
  where: { hints: reads, call: () => text(`${import.meta.filename}:12 in ${process.cwd()}`) },
  save_file: {
    schema: object({ name: string, content: string }),
    hints: { destructiveHint: true },
    call: ({ name, content }) => {
      writeFileSync(name.replaceAll('/', '_'), content);
      return text(`saved ${readFileSync(name.replaceAll('/', '_'), 'utf8').length} characters`);
    },
  },
};

const answer = async ({ id, method, params }) => {
  if (method === 'initialize') {
    const serverInfo = { name: 'behaviour', version: '1.0.0' };
    return { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo };
  }
  if (method === 'tools/list') {
    const list = Object.entries(tools).map(([name, { schema = object({}), hints }]) => ({
      name,
      description: `Does what ${name} says.`,
      inputSchema: schema,
      annotations: hints,
    }));
    return { tools: list };
  }
  if (method === 'tools/call') {
    const { name, arguments: args = {} } = params;
    const tool = tools[name];
    if (tool === undefined) throw new Error(`Unknown tool ${name}`);
    for (const [key, { type }] of Object.entries(tool.schema?.properties ?? {})) {
      const isMissing = args[key] === undefined && tool.schema.required.includes(key);
      if (isMissing) return failure(`The argument ${key} is missing.`);
      if (args[key] !== undefined && typeof args[key] !== type) return failure(`The argument ${key} is no ${type}.`);
    }
    return await tool.call(args, id);
  }
  if (method === 'ping') return {};
  throw new Error(`Unknown method ${method}`);
};

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  if (message.id === undefined) continue;
  const reply = { jsonrpc: '2.0', id: message.id };
  try {
    reply.result = await answer(message);
  } catch (error) {
    reply.error = { code: -32603, message: error.message };
  }
  process.stdout.write(`${JSON.stringify(reply)}\n`);
}
