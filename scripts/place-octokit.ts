/**
 * Replaces the module of GitHub's client in `lib/` by a bundle of it, and writes the licences of what the bundle contains next to it. `npm run
 * prepare` runs it last.
 */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { bundleOctokit } from './bundles.ts';
import { renderLicences } from './licences.ts';

const root = path.resolve(import.meta.dirname, '..');
const { text, modules } = await bundleOctokit(root);
writeFileSync(path.join(root, 'lib/github/octokit.cjs'), text);
writeFileSync(
  path.join(root, 'lib/github/octokit.js'),
  "import client from './octokit.cjs';\nexport const { createOctokit } = client;\n",
);
writeFileSync(path.join(root, 'lib/github/octokit.licenses.txt'), renderLicences(root, modules));
