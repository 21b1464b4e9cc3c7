import type { Server, ServerCapabilities } from '@modelcontextprotocol/server';
import { refuse } from './fixture-mcp-server.ts';

/** All capabilities of a server, including tools. */
export const capabilities: ServerCapabilities = {
  tools: {},
  resources: { subscribe: true },
  prompts: {},
  completions: {},
};

const notes: Readonly<Record<string, { text: string; mimeType: string }>> = {
  'note://1': { text: 'buy milk', mimeType: 'text/plain' },
  'note://2': { text: '{"title":"Groceries","items":["milk","eggs"]}', mimeType: 'application/json' },
};

const cities = ['Paris', 'Padua', 'Porto'];

/** Gives a server two notes, a prompt and completions. */
export function prepareLibrary(server: Server): void {
  server.setRequestHandler('resources/list', () => ({
    resources: Object.entries(notes).map(([uri, { mimeType }]) => ({ uri, name: uri, mimeType })),
  }));
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: [{ name: 'note', uriTemplate: 'note://{id}' }],
  }));
  server.setRequestHandler('resources/read', ({ params: { uri } }) => {
    const note = notes[uri] ?? refuse(-32002, `No note ${uri.slice('note://'.length)}`);
    return { contents: [{ uri, ...note }] };
  });
  server.setRequestHandler('resources/subscribe', () => ({}));
  server.setRequestHandler('prompts/list', () => ({ prompts: [{ name: 'greet' }] }));
  server.setRequestHandler('prompts/get', ({ params: { arguments: args = {} } }) => ({
    description: 'Greets a person',
    messages: [
      { role: 'user', content: { type: 'text', text: `Say hello to ${args['name'] ?? 'the world'}.` } },
      { role: 'assistant', content: { type: 'text', text: 'Hello!' } },
    ],
  }));
  server.setRequestHandler('completion/complete', ({ params: { argument, context } }) => {
    const known = context?.arguments?.['country'] === 'France' ? ['Paris'] : cities;
    return { completion: { values: known.filter((city) => city.startsWith(argument.value)) } };
  });
}
