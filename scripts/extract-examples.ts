// Writes the examples of the library's pages as files into a directory, each as a module of its own, with what they need there: a server, evals and
// a surface. `.ci/try-package` compiles and runs them with the packed package.
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '..');
const [directory = ''] = process.argv.slice(2);
const notes = path.join(root, 'examples/library/notes');

mkdirSync(path.join(directory, 'build'), { recursive: true });
mkdirSync(path.join(directory, 'evals'));
mkdirSync(path.join(directory, '../base'));
cpSync(path.join(notes, 'notes.evals.yaml'), path.join(directory, 'evals/notes.evals.yaml'));
cpSync(path.join(notes, 'server.ts'), path.join(directory, 'build/server.ts'));
writeFileSync(
  path.join(directory, 'build/index.js'),
  `import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';
import { createNotesServer } from './server.ts';
const server = createNotesServer();
const numbers = { a: z.number(), b: z.number() };
server.registerTool('add', { description: 'Adds two numbers.', inputSchema: numbers }, ({ a, b }) => ({
  content: [{ type: 'text', text: String(a + b) }],
}));
await server.connect(new StdioServerTransport());
`,
);
cpSync(path.join(directory, 'build'), path.join(directory, '../base/build'), { recursive: true });

for (const page of ['library.md', 'library-reference.md']) {
  const text = readFileSync(path.join(root, 'docs', page), 'utf8');
  // In the reference, blocks without a mark are shapes of types.
  const blocks = text.matchAll(page === 'library.md' ? /^```ts\n(.*?)^```$/gms : /^```ts example\n(.*?)^```$/gms);
  for (const [index, [, code = '']] of [...blocks].entries()) {
    writeFileSync(path.join(directory, `${path.parse(page).name}-${index + 1}.ts`), code);
  }
}
