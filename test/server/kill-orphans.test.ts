import { spawn } from 'node:child_process';
import { randomInt, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/time.ts';
import { logDescendants, stopMarkedProcesses } from '../../src/server/kill-orphans.ts';
import { listProcesses } from '../../src/server/process-tree.ts';
import { isRunning, listMarkedPids } from '../support/process/processes.ts';
import { stdioServerPath } from '../support/servers/bundled-servers.ts';
import { openTestServer } from '../support/servers/running-server.ts';

const options = { graceMs: 500, clock: systemClock };

/** Starts a process in a session of its own, as a daemon does, and waits until it runs. */
async function startDaemon(script: string, marker: string): Promise<number> {
  const env = { ...process.env, MCP_EVAL_CI_PROCESS: marker };
  const child = spawn(process.execPath, ['-e', script], { detached: true, env, stdio: ['ignore', 'pipe', 'ignore'] });
  await once(child.stdout, 'data');
  return child.pid ?? 0;
}

describe.runIf(process.platform === 'linux')('stopMarkedProcesses', () => {
  it('stops only processes with the marker, by SIGTERM or SIGKILL', async () => {
    const marker = randomUUID();
    const polite = await startDaemon('console.log(1); setInterval(() => {}, 1000)', marker);
    const stubborn = await startDaemon(
      'process.on("SIGTERM", () => {}); console.log(1); setInterval(() => {}, 1000)',
      marker,
    );
    const other = await startDaemon('console.log(1); setInterval(() => {}, 1000)', `${marker}-other`);
    expect(await stopMarkedProcesses(marker, options)).toBe(2);
    expect([polite, stubborn, other].map(isRunning)).toEqual([false, false, true]);
    process.kill(other);
  });

  it('finds nothing the second time', async () => {
    expect(await stopMarkedProcesses(randomUUID(), options)).toBe(0);
  });

  it('runs when a server stops, so that processes outside its process group end, too', async () => {
    const escape = `require("child_process").spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { detached: true, stdio: "ignore" }).unref();`;
    const command = `sh -c '"$0" -e "$1"; exec "$0" ${stdioServerPath}' ${process.execPath} '${escape}'`;
    const server = await openTestServer({ command, sessionMarker: `sweep-${randomUUID()}` });
    const marker = server.sessionMarker ?? '';
    expect(listMarkedPids(marker).length).toBeGreaterThan(0);
    await server[Symbol.asyncDispose]();
    expect(listMarkedPids(marker)).toEqual([]);
  });

  it('ends daemons without a marker that were seen while their parents lived, also under a server that crashes', async () => {
    const count = randomInt(100_000, 1_000_000);
    const isSleeping = () => listProcesses().some(({ pid }) => readCommand(pid) === `sleep ${count}`);
    // It has neither the process group nor the environment of the server: only its parent identifies it.
    const daemon = `require("child_process").spawn("env", ["-i", "setsid", "sleep", "${count}"], { stdio: "ignore" }).unref();`;
    const command = `sh -c '"$0" -e "$1 setTimeout(() => process.exit(), 800)"; exec "$0" ${stdioServerPath}' ${process.execPath} '${daemon}'`;
    const server = await openTestServer({ command });
    expect(isSleeping()).toBe(true);
    await server[Symbol.asyncDispose]();
    expect(isSleeping()).toBe(false);
  });

  it('ends only the followed processes', async () => {
    const log = logDescendants();
    const other = spawn('sleep', ['30'], { stdio: 'ignore' });
    await once(other, 'spawn');
    expect(await log.end(options)).toBe(0);
    log.follow(process.pid);
    log.look();
    log.forget(process.pid);
    expect(isRunning(other.pid ?? 0)).toBe(true);
    expect(await log.end(options)).toBeGreaterThan(0);
    expect(isRunning(other.pid ?? 0)).toBe(false);
  });
});

function readCommand(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    return '';
  }
}
