import { build } from 'esbuild';

/** Bundles the program of the schema worker; `modules` are the names of its modules. */
export async function bundleSchemaWorker(root: string): Promise<{ text: string; modules: string[] }> {
  const { outputFiles, metafile } = await build({
    entryPoints: ['src/engine/schema-worker.ts'],
    absWorkingDir: root,
    bundle: true,
    format: 'cjs',
    platform: 'node',
    minify: true,
    target: 'es2022',
    metafile: true,
    write: false,
    legalComments: 'none',
  });
  return { text: outputFiles[0]?.text.trim() ?? '', modules: Object.keys(metafile.inputs) };
}
