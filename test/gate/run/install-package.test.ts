import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { installPackage } from '../../../src/gate/run/install-package.ts';
import { planPackage } from '../../../src/gate/plan/plan-package.ts';
import { createFindings } from '../../../src/base/findings.ts';
import { openIndex, openRegistry } from '../../support/servers/registries.ts';
import { findProgram } from '../../../src/server/programs.ts';
import { createWorkspace, type Workspace } from '../../support/workspace.ts';

async function install(workspace: Workspace, version: string, registry: string) {
  await workspace.write('package.json', JSON.stringify({ name: 'notes', version }));
  const { path } = workspace;
  const command = 'node build/index.js --verbose';
  const findings = createFindings();
  const planned = await planPackage({ name: null, version: null }, { command, serverCwd: path, cwd: path }, findings);
  if (planned === null) throw new Error('Nothing is planned.');
  const directory = join(path, 'installed');
  const environment = {
    PATH: process.env['PATH'] ?? '',
    HOME: path,
    npm_config_registry: registry,
    npm_config_fetch_retries: '0',
  };
  return {
    directory,
    opening: installPackage(planned, { directory, environment, signal: new AbortController().signal }),
  };
}

describe('base: package', () => {
  it.each([
    ['1.0.5', '1.0.0'],
    ['2.0.0-beta.2', '1.1.0'],
    ['3.0.0', '2.0.0'],
  ])('installs the last release up to %s, runs no script of it, and removes it', async (own, expected) => {
    await using workspace = await createWorkspace();
    await using registry = await openRegistry(workspace);
    const { directory, opening } = await install(workspace, own, registry.url);
    {
      await using installed = await opening;
      expect(installed.version).toBe(expected);
      expect(installed.command).toBe(`node ${join(directory, 'node_modules/notes/build/index.js')} --verbose`);
    }
    expect(existsSync(directory)).toBe(false);
  });

  it('says what the registry answered if it has no such release, and leaves nothing', async () => {
    await using workspace = await createWorkspace();
    await using registry = await openRegistry(workspace);
    const { directory, opening } = await install(workspace, '0.1.0', registry.url);
    await expect(opening).rejects.toThrow(/^The release could not be installed: (?!npm error code).*notes/);
    expect(existsSync(directory)).toBe(false);
  });

  it.skipIf(findProgram('uv') === null && findProgram('python3') === null)(
    'installs the last wheel up to the version of the change from an index',
    async () => {
      await using workspace = await createWorkspace({
        'pyproject.toml': '[project]\nname = "notes"\nversion = "1.0.5"\n',
      });
      await using index = await openIndex(workspace);
      const { path } = workspace;
      const command = 'python3 -m notes --verbose';
      const findings = createFindings();
      const planned = await planPackage(
        { name: null, version: null },
        { command, serverCwd: path, cwd: path },
        findings,
      );
      if (planned === null) throw new Error('Nothing is planned.');
      const directory = join(path, 'installed');
      const environment = {
        PATH: process.env['PATH'] ?? '',
        HOME: path,
        PIP_INDEX_URL: `${index.url}/simple`,
        UV_DEFAULT_INDEX: `${index.url}/simple`,
        PIP_RETRIES: '0',
      };
      const installed = await installPackage(planned, {
        directory,
        environment,
        signal: new AbortController().signal,
      });
      expect(installed.version).toBe('1.0.0');
      expect(installed.command).toBe(`${join(directory, 'venv/bin/python')} -m notes --verbose`);
      expect(existsSync(join(directory, 'venv'))).toBe(true);
      await installed[Symbol.asyncDispose]();
      expect(existsSync(directory)).toBe(false);
    },
  );
});
