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

// Stands for a model of the reader.
writeFileSync(
  path.join(directory, 'my-model.js'),
  "export const myModel = { specificationVersion: 'v4', provider: 'mine', modelId: 'small', supportedUrls: {}, doGenerate() {}, doStream() {} };\n",
);
writeFileSync(
  path.join(directory, 'my-model.d.ts'),
  "import type { OwnModel } from 'mcp-eval-ci';\nexport const myModel: OwnModel['model'];\n",
);

mkdirSync(path.join(directory, 'vitest'));
for (const page of ['library.md', 'library-reference.md']) {
  const text = readFileSync(path.join(root, 'docs', page), 'utf8');
  // In the reference, blocks without a mark are shapes of types.
  const blocks = text.matchAll(
    page === 'library.md' ? /^```ts(?: (vitest|model))?\n(.*?)^```$/gms : /^```ts (example)\n(.*?)^```$/gms,
  );
  for (const [index, [, mark, code = '']] of [...blocks].entries()) {
    const name = `${path.parse(page).name}-${index + 1}`;
    writeFileSync(path.join(directory, mark === 'vitest' ? `vitest/${name}.test.ts` : `${name}.ts`), code);
  }
}
