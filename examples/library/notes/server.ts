import { fileURLToPath } from 'node:url';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';

/** A server that keeps notes in memory. */
export function createNotesServer(): McpServer {
  const notes = new Map<string, string>();
  const server = new McpServer({ name: 'notes', version: '1.0.0' });
  const note = { title: z.string(), text: z.string() };
  server.registerTool('add_note', { description: 'Keeps a note.', inputSchema: note }, ({ title, text }) => {
    notes.set(title, text);
    return { content: [{ type: 'text', text: `Kept ${title}, of ${notes.size} notes.` }] };
  });
  const reading = {
    description: 'Reads a note.',
    inputSchema: { title: z.string() },
    annotations: { readOnlyHint: true },
  };
  server.registerTool('read_note', reading, ({ title }) => {
    const text = notes.get(title);
    return text === undefined
      ? { isError: true, content: [{ type: 'text', text: `There is no note ${title}.` }] }
      : { content: [{ type: 'text', text }] };
  });
  return server;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await createNotesServer().connect(new StdioServerTransport());
