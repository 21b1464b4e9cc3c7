import { build } from 'esbuild';

/**
 * Bundles GitHub's client with all its packages except undici; `modules` are the names of its modules. The bundle is CommonJS as its packages
 * are, so that their `require` of built-in modules stays as it is.
 */
export async function bundleOctokit(root: string): Promise<{ text: string; modules: string[] }> {
  const { outputFiles, metafile } = await build({
    entryPoints: ['src/github/octokit.ts'],
    absWorkingDir: root,
    bundle: true,
    format: 'cjs',
    platform: 'node',
    minify: true,
    target: 'es2022',
    external: ['undici'],
    metafile: true,
    write: false,
    legalComments: 'none',
  });
  const modules = Object.keys(metafile.inputs).filter((name) => name.includes('node_modules/'));
  return { text: outputFiles[0]?.text ?? '', modules };
}
