import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { openTestServer } from '../support/servers/running-server.ts';
import { createWorkspace } from '../support/workspace.ts';
import type { TestedServer } from './run-shape.ts';

const packages = path.resolve(import.meta.dirname, '../../node_modules/@modelcontextprotocol');

const text = 'Grüße, 世界 𝄞';

/** Opens server-memory over a graph of two entities. It speaks stdio alone, so the gate's own bridge serves it over HTTP. */
export async function openMemory(): Promise<TestedServer> {
  const entities = [text, 'Ann'].map((name) =>
    JSON.stringify({ type: 'entity', name, entityType: 'note', observations: ['likes tea'] }),
  );
  return await openBridged('server-memory', {
    files: { 'memory.jsonl': entities.join('\n') },
    command: (directory) =>
      `/usr/bin/env MEMORY_FILE_PATH=${directory}/memory.jsonl ${process.execPath} ${packages}/server-memory/dist/index.js`,
    cases: () => ({
      first: { tool: 'read_graph', arguments: {}, contains: 'likes tea' },
      target: { tool: 'search_nodes', arguments: { query: text }, contains: text },
      last: { tool: 'open_nodes', arguments: { names: ['Ann'] }, contains: 'Ann' },
    }),
  });
}

/** Opens server-filesystem over a directory with one file, over HTTP as server-memory. */
export async function openFilesystem(): Promise<TestedServer> {
  return await openBridged('server-filesystem', {
    files: { 'note.txt': text },
    command: (directory) => `${process.execPath} ${packages}/server-filesystem/dist/index.js ${directory}`,
    cases: (directory) => ({
      first: { tool: 'list_directory', arguments: { path: directory }, contains: 'note.txt' },
      target: { tool: 'read_text_file', arguments: { path: `${directory}/note.txt` }, contains: text },
      last: { tool: 'get_file_info', arguments: { path: `${directory}/note.txt` }, contains: 'size' },
    }),
  });
}

async function openBridged(
  name: string,
  server: {
    files: Record<string, string>;
    command: (directory: string) => string;
    cases: (directory: string) => TestedServer['cases'];
  },
): Promise<TestedServer> {
  await using stack = new AsyncDisposableStack();
  const workspace = stack.use(await createWorkspace());
  for (const [file, content] of Object.entries(server.files)) await writeFile(path.join(workspace.path, file), content);
  const command = server.command(workspace.path);
  const { url } = stack.use(
    await openTestServer({ command, sessions: { count: null, warmProcesses: 1, isExclusive: false } }),
  );
  const disposal = stack.move();
  return {
    name,
    cases: server.cases(workspace.path),
    stdio: `-- ${command}`,
    url,
    [Symbol.asyncDispose]: () => disposal.disposeAsync(),
  };
}
