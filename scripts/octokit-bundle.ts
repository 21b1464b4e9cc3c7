import { builtinModules } from 'node:module';
import { build, type Plugin } from 'esbuild';

/** Bundles GitHub's client with all its packages except undici; `modules` are the names of its modules. */
export async function bundleOctokit(root: string): Promise<{ text: string; modules: string[] }> {
  const { outputFiles, metafile } = await build({
    entryPoints: ['src/github/octokit.ts'],
    absWorkingDir: root,
    bundle: true,
    format: 'esm',
    platform: 'node',
    minify: true,
    target: 'es2022',
    external: ['undici'],
    plugins: [importBuiltins],
    metafile: true,
    write: false,
    legalComments: 'none',
  });
  const modules = Object.keys(metafile.inputs).filter((name) => name.includes('node_modules/'));
  return { text: outputFiles[0]?.text ?? '', modules };
}

/** Imports the built-in modules that a CommonJS package requires. A bundle that is an ES module has no `require`. */
const importBuiltins: Plugin = {
  name: 'import-builtins',
  setup: (bundler) => {
    bundler.onResolve({ filter: /^\w+$/ }, ({ path, kind }) =>
      kind === 'require-call' && builtinModules.includes(path) ? { path, namespace: 'builtin' } : null,
    );
    bundler.onLoad({ filter: /.*/, namespace: 'builtin' }, ({ path }) => ({
      contents: `export * from 'node:${path}';`,
    }));
  },
};
