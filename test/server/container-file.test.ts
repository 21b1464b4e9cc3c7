import { readdir } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../src/base/logger.ts';
import { findContainerFile } from '../../src/server/container-file.ts';
import { stdioServerPath } from '../support/servers/bundled-servers.ts';
import { startContainerDaemon } from '../support/servers/container-daemon.ts';
import { connectClient, openTestServer } from '../support/servers/running-server.ts';
import { createWorkspace } from '../support/workspace.ts';

describe('findContainerFile', () => {
  it.each([
    ['docker run --rm --cidfile server.cid image', 'docker run --rm --cidfile server.cid.1 image'],
    ['docker run --cidfile=a/server.cid image --flag', 'docker run --cidfile=a/server.cid.1 image --flag'],
    ['/usr/bin/podman container run --cidfile c image', '/usr/bin/podman container run --cidfile c.1 image'],
  ])('gives the file of %j a suffix', (before, after) => {
    expect(findContainerFile(before.split(' '), '1')?.words).toEqual(after.split(' '));
  });

  it.each([
    'docker run --rm --interactive image',
    'docker exec --cidfile server.cid image',
    'node run.js run --cidfile server.cid',
    'sudo docker run --cidfile server.cid image',
    'docker run --cidfile',
    'docker run --cidfile= image',
  ])('leaves %j as it is', (command) => {
    expect(findContainerFile(command.split(' '), '1')).toBeNull();
  });
});

describe('a server in a container with --cidfile', () => {
  async function openContainer(options = '--rm --interactive --cidfile server.cid') {
    const engine = await startContainerDaemon();
    const workspace = await createWorkspace();
    const warnings: string[] = [];
    const server = await openTestServer(
      {
        command: `docker run ${options} image ${process.execPath} ${stdioServerPath}`,
        cwd: workspace.path,
        env: { PATH: `${engine.directory}:${process.env['PATH']}` },
      },
      { logger: { ...silentLogger, warning: (message) => void warnings.push(message) } },
    );
    return { engine, workspace, warnings, server };
  }

  it('starts one process per session, and leaves neither containers nor files', async () => {
    const { engine, workspace, warnings, server } = await openContainer();
    await using _engine = engine;
    await using _workspace = workspace;
    const pids = [];
    for (const _session of [1, 2]) {
      await using client = await connectClient(server.url);
      pids.push(await client.call('pid'));
    }
    expect(new Set(pids).size).toBe(2);
    await server[Symbol.asyncDispose]();
    expect(engine.started()).toBeGreaterThanOrEqual(3);
    expect([engine.list(), await readdir(workspace.path), warnings]).toEqual([[], [], []]);
  });

  it('removes the container of a client that was killed', async () => {
    const { engine, workspace, server } = await openContainer();
    await using _engine = engine;
    await using _workspace = workspace;
    await using _client = await connectClient(server.url);
    const [container] = engine.list();
    engine.holdInputs();
    process.kill(container?.clientPid ?? 0, 'SIGKILL');
    await server[Symbol.asyncDispose]();
    expect([engine.list(), await readdir(workspace.path)]).toEqual([[], []]);
  });

  it('leaves the container of a killed client where the command names no file', async () => {
    const { engine, workspace, server } = await openContainer('--rm --interactive');
    await using _engine = engine;
    await using _workspace = workspace;
    await using _client = await connectClient(server.url);
    const [container] = engine.list();
    engine.holdInputs();
    process.kill(container?.clientPid ?? 0, 'SIGKILL');
    await server[Symbol.asyncDispose]();
    expect(engine.list()).toEqual([container]);
  });

  it('warns of a container that cannot be removed, and keeps its file', async () => {
    const { engine, workspace, warnings, server } = await openContainer();
    await using _engine = engine;
    await using _workspace = workspace;
    await using _client = await connectClient(server.url);
    const [container] = engine.list();
    engine.refuseRemoval();
    engine.holdInputs();
    process.kill(container?.clientPid ?? 0, 'SIGKILL');
    await server[Symbol.asyncDispose]();
    expect(warnings.join('\n')).toContain(
      `may still run: the daemon is on strike (exit code 1). Remove it with \`docker rm --force --volumes ${container?.id}\`.`,
    );
    expect(await readdir(workspace.path)).not.toEqual([]);
  });
});
