import { build } from 'esbuild';

/** A bundle in one file; `modules` are the names of its modules. */
interface Bundle {
  text: string;
  modules: string[];
}

/** Bundles the program of the schema worker. */
export const bundleSchemaWorker = (root: string) => bundle(root, 'src/engine/schema-worker.ts');

/** Bundles the program of the process of a check module. */
export const bundleCheckWorker = (root: string) => bundle(root, 'src/server/check-worker.ts');

/** Bundles GitHub's client with all its packages except undici. */
export const bundleOctokit = (root: string) => bundle(root, 'src/github/octokit.ts', ['undici']);

/** Makes a CommonJS bundle, in which a `require` of a built-in module stays as it is. */
async function bundle(root: string, entry: string, external: string[] = []): Promise<Bundle> {
  const { outputFiles, metafile } = await build({
    entryPoints: [entry],
    absWorkingDir: root,
    bundle: true,
    format: 'cjs',
    platform: 'node',
    minify: true,
    target: 'es2022',
    external,
    metafile: true,
    write: false,
    legalComments: 'none',
  });
  return { text: outputFiles[0]?.text.trim() ?? '', modules: Object.keys(metafile.inputs) };
}
