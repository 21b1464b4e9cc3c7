import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

const root = path.resolve(import.meta.dirname, '../..');

/** Finds a Node in the PATH that is older than required and supports ES modules. */
function findOldNode(): { file: string; version: string } | null {
  for (const directory of (process.env['PATH'] ?? '').split(path.delimiter)) {
    const file = path.join(directory, 'node');
    if (directory === '' || !existsSync(file)) continue;
    const version = execFileSync(file, ['--version'], { encoding: 'utf8' }).trim();
    const [major = 0, minor = 0] = version.slice(1).split('.').map(Number);
    if (major >= 16 && (major < 22 || (major === 22 && minor < 19))) return { file, version };
  }
  return null;
}

const old = findOldNode();

// Skips the tests if the machine has no older Node.
describe.skipIf(old === null)(`under an older Node (${old?.version ?? 'none is installed'})`, () => {
  const start = (file: string) => {
    const { status, stdout, stderr } = spawnSync(old?.file ?? '', [path.join(root, file)], { encoding: 'utf8' });
    return { status, stdout, stderr };
  };

  it('the action says in one line what it needs', () => {
    expect(start('dist/index.js')).toEqual({
      status: 2,
      stdout: `::error::mcp-eval-ci needs Node.js 22.19 or newer, and this runner has ${old?.version}. Update the runner, or the image that it uses.\n`,
      stderr: '',
    });
  });

  it('the post step logs nothing more', () => {
    expect(start('dist/post.js')).toEqual({ status: 0, stdout: '', stderr: '' });
  });

  it('the command says in one line what it needs', () => {
    expect(start('lib/cli/main.js')).toEqual({
      status: 2,
      stdout: '',
      stderr: `mcp-eval-ci needs Node.js 22.19 or newer; this is ${old?.version}.\n`,
    });
  });
});
