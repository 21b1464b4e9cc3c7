import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { installPackage } from '../../../src/gate/run/install-package.ts';
import { planPackage } from '../../../src/gate/plan/plan-package.ts';
import { createFindings } from '../../../src/base/findings.ts';
import { createWorkspace, type Workspace } from '../../support/workspace.ts';

const versions = ['1.0.0', '1.1.0', '2.0.0-beta.1', '2.0.0'];

/** Serves a registry on loopback that has a package in several versions. */
async function openRegistry({ path }: Workspace): Promise<AsyncDisposable & { url: string }> {
  const packed = versions.map((version) => {
    const manifest = {
      name: 'notes',
      version,
      bin: { 'notes-server': 'build/index.js' },
      scripts: { postinstall: 'node -e "process.exit(9)"' },
    };
    execFileSync(
      'sh',
      [
        '-c',
        `mkdir -p ${version}/package/build && cat > ${version}/package/package.json && echo '#!/usr/bin/env node' > ${version}/package/build/index.js && tar -czf ${version}.tgz -C ${version} package`,
      ],
      {
        cwd: path,
        input: JSON.stringify(manifest),
      },
    );
    const file = readFileSync(join(path, `${version}.tgz`));
    return { manifest, file };
  });
  const server = createServer((request, response) => {
    const wanted = /\/notes-(.+)\.tgz$/.exec(request.url ?? '')?.[1];
    const found = packed.find(({ manifest }) => manifest.version === wanted);
    if (found !== undefined) response.end(found.file);
    else if (request.url === '/notes') {
      const list = packed.map(({ manifest, file }) => [
        manifest.version,
        {
          ...manifest,
          dist: {
            tarball: `${url}/notes-${manifest.version}.tgz`,
            integrity: `sha512-${createHash('sha512').update(file).digest('base64')}`,
          },
        },
      ]);
      response.setHeader('content-type', 'application/json');
      response.end(
        JSON.stringify({ name: 'notes', 'dist-tags': { latest: '2.0.0' }, versions: Object.fromEntries(list) }),
      );
    } else response.writeHead(404).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    [Symbol.asyncDispose]: async () => {
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

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
    await expect(opening).rejects.toThrow('The release could not be installed');
    expect(existsSync(directory)).toBe(false);
  });
});
