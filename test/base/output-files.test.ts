import { execFileSync } from 'node:child_process';
import { link, mkdir, readdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readTextFile } from '../../src/base/files.ts';
import { findOutputRoot, replaceOutput, writeOutput } from '../../src/base/output-files.ts';
import { createWorkspace } from '../support/workspace.ts';

describe('writeOutput', () => {
  it('makes, replaces and appends to a file', async () => {
    await using workspace = await createWorkspace();
    const path = join(workspace.path, 'a.txt');
    writeOutput(path, 'long before', { root: workspace.path });
    writeOutput(path, 'one', { root: workspace.path });
    writeOutput(path, ' two', { root: workspace.path, mode: 'append' });
    expect(await readTextFile(path)).toBe('one two');
  });

  it.runIf(process.platform !== 'win32').each(['replace', 'append'] as const)(
    'refuses a named pipe without a reader, to %s',
    async (mode) => {
      await using workspace = await createWorkspace();
      const path = join(workspace.path, 'pipe');
      execFileSync('mkfifo', [path]);
      expect(() => writeOutput(path, 'text', { root: null, mode })).toThrow('ENXIO');
    },
  );
});

describe.runIf(process.platform !== 'win32')('writeOutput and replaceOutput below a root', () => {
  async function createRoot() {
    const workspace = await createWorkspace({ 'out/keep.txt': 'x', 'root/.git/config': 'x', 'root/in/a.txt': 'a' });
    const root = join(workspace.path, 'root');
    await symlink('../out', join(root, 'away'));
    await symlink('.git', join(root, 'git'));
    await symlink('in', join(root, 'here'));
    await symlink('../out/keep.txt', join(root, 'file'));
    await symlink('../out/none', join(root, 'dangling'));
    await symlink('in/a.txt', join(root, 'in-file'));
    await link(join(workspace.path, 'out/keep.txt'), join(root, 'second-name'));
    await mkdir(join(root, 'directory'));
    return { workspace, root };
  }

  it.each([
    'away/x',
    'away/new/x',
    'away/keep.txt',
    'git/config',
    'dangling/x',
    'file',
    'dangling',
    'in-file',
    'directory',
  ])('refuse %s', async (path) => {
    const { workspace, root } = await createRoot();
    await using _workspace = workspace;
    const refusal = /symbolic link|EISDIR/;
    expect(() => writeOutput(join(root, path), 'new', { root })).toThrow(refusal);
    expect(() => writeOutput(join(root, path), 'new', { root, mode: 'append' })).toThrow(refusal);
    expect(() => replaceOutput(join(root, path), 'new', root)).toThrow(refusal);
    expect([await readdir(join(workspace.path, 'out')), await workspace.read('out/keep.txt')]).toEqual([
      ['keep.txt'],
      'x',
    ]);
    expect((await readdir(join(root, '.git'))).length).toBe(1);
  });

  it('write through links that stay below it, and never into a file with a second name', async () => {
    const { workspace, root } = await createRoot();
    await using _workspace = workspace;
    writeOutput(join(root, 'here/new/b.txt'), 'b', { root });
    replaceOutput(join(root, 'here/a.txt'), 'c', root);
    expect([await workspace.read('root/in/new/b.txt'), await workspace.read('root/in/a.txt')]).toEqual(['b', 'c']);
    expect(() => writeOutput(join(root, 'second-name'), 'new', { root })).toThrow('hard link');
    replaceOutput(join(root, 'second-name'), 'own', root);
    expect([await workspace.read('out/keep.txt'), await workspace.read('root/second-name')]).toEqual(['x', 'own']);
  });

  it('take the checkout as the root of a path in it, and nothing as that of another path', async () => {
    const { workspace, root } = await createRoot();
    await using _workspace = workspace;
    expect(findOutputRoot('a/b', join(root, 'in'))).toBe(root);
    expect(findOutputRoot('../../out', join(root, 'in'))).toBeNull();
  });
});
