import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

import { listProcesses } from '../../src/server/process-tree.ts';
import { stdioServerPath } from '../support/servers/bundled-servers.ts';
import { listMarkedPids } from '../support/process/processes.ts';
import { openTestServer } from '../support/servers/running-server.ts';
import { createWorkspace } from '../support/workspace.ts';

const stubborn = 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1000);';

/** A server that neither the end of its stdin nor SIGTERM ends, and two children like it, one of them in a group of its own. */
const serverSource = `
  import { spawn } from 'node:child_process';
  for (const detached of [false, true]) {
    spawn(process.execPath, ['-e', '${stubborn}'], { stdio: 'ignore', detached }).unref();
  }
  ${stubborn}
  await import(process.argv[2]);
`;

/** The part of a gate that starts a server for each marker. It says so and waits. */
const gateSource = `
  const root = process.argv[2];
  const { openServer } = await import(root + '/src/server/open-server.ts');
  const { systemClock } = await import(root + '/src/base/time.ts');
  const { silentLogger } = await import(root + '/src/base/logger.ts');
  const { anyProtocol } = await import(root + '/src/model/protocol.ts');
  const { signal } = new AbortController();
  for (const sessionMarker of process.argv.slice(4)) {
    await openServer(
      {
        command: process.argv[3],
        url: null,
        cwd: process.cwd(),
        env: {},
        readyTimeoutMs: 60_000,
        isolation: 'run',
        isWitnessed: true,
        protocol: anyProtocol,
        sessions: { count: null, warmProcesses: 0, isExclusive: false },
        sessionMarker,
      },
      { clock: systemClock, logger: silentLogger, signal, environment: process.env },
    );
  }
  console.log('ready');
`;

/** The part of a gate that starts a server in a copy of a workspace. It says so and waits. */
const placesSource = `
  import { mkdirSync } from 'node:fs';
  const [root, server, placesRoot] = process.argv.slice(2);
  const { openServer } = await import(root + '/src/server/open-server.ts');
  const { systemClock } = await import(root + '/src/base/time.ts');
  const { silentLogger } = await import(root + '/src/base/logger.ts');
  const { anyProtocol } = await import(root + '/src/model/protocol.ts');
  const { createPlaces } = await import(root + '/src/workspace/place.ts');
  const { emptyWorkspace } = await import(root + '/src/workspace/workspace.ts');
  mkdirSync(placesRoot);
  await openServer(
    {
      command: process.execPath + ' ' + server,
      url: null,
      cwd: process.cwd(),
      env: {},
      readyTimeoutMs: 60_000,
      isolation: 'iteration',
      isWitnessed: true,
      protocol: anyProtocol,
      sessions: { count: 0, warmProcesses: 0, isExclusive: true },
      workspaces: { places: createPlaces(placesRoot), initial: emptyWorkspace },
    },
    { clock: systemClock, logger: silentLogger, signal: new AbortController().signal, environment: process.env },
  );
  setInterval(() => {}, 1000);
  console.log('ready');
`;

function listWatchdogs(marker: string): number[] {
  const pids = listProcesses().map(({ pid }) => pid);
  return pids.filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'latin1').endsWith(`sh\0MCP_EVAL_CI_PROCESS=${marker}\0`);
    } catch {
      return false;
    }
  });
}

// Processes are found by what /proc says of them.
describe.skipIf(process.platform !== 'linux')('the watchdog', () => {
  it('leaves no process of the server of a gate that is killed, those in groups of their own included', async () => {
    await using workspace = await createWorkspace({ 'server.mjs': serverSource, 'gate.mjs': gateSource });
    const marker = `watched-${Math.random()}`;
    const command = `${process.execPath} ${workspace.path}/server.mjs ${stdioServerPath}`;
    const gate = spawn(process.execPath, [`${workspace.path}/gate.mjs`, process.cwd(), command, marker], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(gate.stdout, 'data');
    // The server that iterations share, and two children of it.
    await expect.poll(() => listMarkedPids(marker).length).toBeGreaterThanOrEqual(3);
    expect(listWatchdogs(marker)).toHaveLength(1);
    gate.kill('SIGKILL');
    await expect.poll(() => listMarkedPids(marker)).toEqual([]);
    await expect.poll(() => listWatchdogs(marker)).toEqual([]);
  });

  it('removes the copies of the workspaces of a gate that is killed', async () => {
    await using workspace = await createWorkspace({ 'gate.mjs': placesSource });
    const root = join(workspace.path, 'places');
    const gate = spawn(process.execPath, [`${workspace.path}/gate.mjs`, process.cwd(), stdioServerPath, root], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(gate.stdout, 'data');
    expect(existsSync(join(root, '00001/workspace'))).toBe(true);
    gate.kill('SIGKILL');
    await expect.poll(() => existsSync(root), { timeout: 30_000 }).toBe(false);
  });

  it('is one for all servers of a gate, and leaves no process of either where the gate is killed', async () => {
    await using workspace = await createWorkspace({ 'server.mjs': serverSource, 'gate.mjs': gateSource });
    const markers = ['first', 'second'].map((name) => `${name}-${Math.random()}`);
    const command = `${process.execPath} ${workspace.path}/server.mjs ${stdioServerPath}`;
    const gate = spawn(process.execPath, [`${workspace.path}/gate.mjs`, process.cwd(), command, ...markers], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(gate.stdout, 'data');
    const listAll = () => markers.map((marker) => listMarkedPids(marker).length);
    await expect.poll(() => Math.min(...listAll())).toBeGreaterThanOrEqual(3);
    expect(markers.map((marker) => listWatchdogs(marker).length)).toEqual([1, 0]);
    gate.kill('SIGKILL');
    await expect.poll(listAll, { timeout: 30_000 }).toEqual([0, 0]);
    await expect.poll(() => markers.flatMap(listWatchdogs)).toEqual([]);
  });

  it('outlives the first of two servers, and is gone with the last', async () => {
    const markers = ['early', 'late'].map((name) => `${name}-${Math.random()}`);
    const [first, second] = await Promise.all(markers.map((sessionMarker) => openTestServer({ sessionMarker })));
    const list = () => markers.flatMap(listWatchdogs);
    expect(list()).toHaveLength(1);
    await first?.[Symbol.asyncDispose]();
    expect(list()).toHaveLength(1);
    await second?.[Symbol.asyncDispose]();
    expect(list()).toEqual([]);
  });

  it('is gone with the server that is stopped in order', async () => {
    const sessionMarker = `stopped-${Math.random()}`;
    const server = await openTestServer({ sessionMarker });
    expect(listWatchdogs(sessionMarker)).toHaveLength(1);
    await server[Symbol.asyncDispose]();
    expect(listWatchdogs(sessionMarker)).toEqual([]);
  });
});
