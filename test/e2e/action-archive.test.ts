import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { createWorkspace, type Workspace } from '../support/workspace.ts';

const root = path.resolve(import.meta.dirname, '../..');

/** Commits a checkout with this repository's attributes and extracts its `git archive`, which is what a runner downloads. */
function extractArchive(checkout: Workspace): { directory: string; names: string[] } {
  const run = (command: string, ...args: string[]) =>
    execFileSync(command, args, { cwd: checkout.path, encoding: 'utf8', stdio: 'pipe' });
  cpSync(path.join(root, '.gitattributes'), path.join(checkout.path, '.gitattributes'));
  run('git', 'init', '--quiet');
  run('git', 'add', '--all');
  run('git', '-c', 'user.name=test', '-c', 'user.email=test@example.com', 'commit', '--quiet', '--message', 'Release');
  run('git', 'archive', '--output', 'action.tar', 'HEAD');
  const directory = path.join(checkout.path, 'extracted');
  mkdirSync(directory);
  const names = run('tar', '-xvf', 'action.tar', '-C', directory).split('\n');
  return { directory, names: names.filter((name) => name !== '' && !name.endsWith('/')) };
}

describe('the archive that a job downloads', () => {
  it('has what the actions need, and no sources, tests and documentation', async () => {
    const kept = [
      'action.yml',
      'merge/action.yml',
      'publish/action.yml',
      'dist/index.js',
      'dist/package.json',
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'SECURITY.md',
      'package.json',
      'schemas/evals.schema.json',
    ];
    const dropped = [
      'src/index.ts',
      'test/a.test.ts',
      'docs/evals.md',
      'bench/run.ts',
      'page/main.ts',
      'scripts/docs.ts',
      '.ci/run',
      '.github/workflows/ci.yml',
      'examples/a.yml',
      'package-lock.json',
      'tsconfig.build.json',
    ];
    await using checkout = await createWorkspace(Object.fromEntries([...kept, ...dropped].map((name) => [name, name])));
    expect(extractArchive(checkout).names.toSorted()).toEqual(kept.toSorted());
  });

  it('starts, and says what it needs', async () => {
    const manifest = readFileSync(path.join(root, 'action.yml'), 'utf8');
    await using checkout = await createWorkspace({ 'action.yml': manifest });
    cpSync(path.join(root, 'dist'), path.join(checkout.path, 'dist'), { recursive: true });
    const main = /^ {2}main: (.*)$/m.exec(manifest)?.[1] ?? '';
    const { status, stdout } = spawnSync(process.execPath, [main], {
      cwd: extractArchive(checkout).directory,
      encoding: 'utf8',
      env: { PATH: process.env['PATH'] },
    });
    expect({ status, stdout }).toEqual({ status: 2, stdout: expect.stringContaining('::error') });
  });
});
