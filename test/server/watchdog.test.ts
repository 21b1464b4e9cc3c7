import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
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

/** The part of a gate that starts a server. It says so and waits. */
const gateSource = `
  const root = process.argv[2];
  const { openServer } = await import(root + '/src/server/open.ts');
  const { systemClock } = await import(root + '/src/base/time.ts');
  const { silentLogger } = await import(root + '/src/base/logger.ts');
  const { anyProtocol } = await import(root + '/src/model/protocol.ts');
  const { signal } = new AbortController();
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
      sessionMarker: process.argv[4],
    },
    { clock: systemClock, logger: silentLogger, signal, environment: process.env },
  );
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

  it('is gone with the server that is stopped in order', async () => {
    const sessionMarker = `stopped-${Math.random()}`;
    const server = await openTestServer({ sessionMarker });
    expect(listWatchdogs(sessionMarker)).toHaveLength(1);
    await server[Symbol.asyncDispose]();
    expect(listWatchdogs(sessionMarker)).toEqual([]);
  });
});
