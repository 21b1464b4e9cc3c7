import { createHash } from 'node:crypto';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { resolveNpx } from '../../src/server/resolve-npx.ts';
import { createWorkspace } from '../support/workspace.ts';

const bin = 'node_modules/.bin';
const kept = `cache/_npx/${createHash('sha512').update('kept@latest').digest('hex').slice(0, 16)}`;
const known = process.env['npm_config_cache'];

afterEach(() => {
  if (known === undefined) delete process.env['npm_config_cache'];
  else process.env['npm_config_cache'] = known;
});

describe('resolveNpx', () => {
  it('names the program of an installed package or of one that npx keeps, and leaves what npx would load', async () => {
    await using workspace = await createWorkspace({
      [`${bin}/notes-server`]: '',
      'node_modules/@notes/mcp/cli.js': '',
      'node_modules/@notes/two/cli.js': '',
      [`${kept}/${bin}/kept`]: '',
    });
    for (const [name, scope] of [
      ['notes', 'mcp'],
      ['first', 'two'],
      ['second', 'two'],
    ] as const) {
      symlinkSync(`../@notes/${scope}/cli.js`, join(workspace.path, bin, name));
    }
    process.env['npm_config_cache'] = join(workspace.path, 'cache');
    const cwd = join(workspace.path, 'packages/a');
    mkdirSync(cwd, { recursive: true });
    const inWorkspace = (path: string) => join(workspace.path, path);
    const resolve = (command: string) => resolveNpx(command.split(' '), cwd);
    expect(resolve('npx notes-server --root .')).toEqual([inWorkspace(`${bin}/notes-server`), '--root', '.']);
    expect(resolve('npx -y @notes/mcp -v')).toEqual([inWorkspace(`${bin}/notes`), '-v']);
    expect(resolve('npx --yes kept a')).toEqual([inWorkspace(`${kept}/${bin}/kept`), 'a']);
    expect(resolve('npx -y kept@latest')).toEqual([inWorkspace(`${kept}/${bin}/kept`)]);
    for (const other of [
      'npx',
      'npx missing',
      'npx @notes/two',
      'npx notes-server@2.0.0',
      'npx kept@2.0.0',
      'npx -p kept kept',
      'node notes-server',
    ]) {
      expect(resolve(other)).toEqual(other.split(' '));
    }
  });
});
