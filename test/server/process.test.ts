import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';

import { type Clock, systemClock } from '../../src/base/time.ts';
import { startProcess } from '../../src/server/process.ts';
import type { ServerProcess } from '../../src/server/process.ts';
import { createOutputTail } from '../../src/server/output-tail.ts';
import type { OutputTail } from '../../src/server/output-tail.ts';
import { isRunning } from '../support/process/processes.ts';

function start(command: readonly string[], clock: Clock = systemClock): { server: ServerProcess; tail: OutputTail } {
  const tail = createOutputTail();
  const env = { PATH: process.env['PATH'] ?? '' };
  return {
    server: startProcess(command, { cwd: process.cwd(), env, tail, clock, readsStdin: true }),
    tail,
  };
}

/** Starts a script that prints numbers of processes once it is set up, and waits for them. */
async function startTree(command: readonly string[]): Promise<{ server: ServerProcess; pids: number[] }> {
  const { server } = start(command);
  const [line] = (await once(server.stdout, 'data')) as [Buffer];
  return { server, pids: String(line).trim().split(/\s+/).map(Number) };
}

const node = process.execPath;
const pause = () => void spawnSync('sleep', ['0.5']);
const idle = 'setInterval(() => {}, 1000);';

describe('stopping a server', () => {
  it('lets a server that watches its stdin exit by itself', async () => {
    const { server } = start([node, '-e', 'process.stdin.resume().on("end", () => process.exit(7))']);
    await server.stop();
    expect(await server.exited).toMatchObject({ code: 7, signal: null });
  });

  it('terminates a server that does not watch its stdin', async () => {
    const { server, pids } = await startTree([node, '-e', `console.log(process.pid); ${idle}`]);
    await server.stop();
    expect(await server.exited).toMatchObject({ code: null, signal: 'SIGTERM' });
    expect(pids.map(isRunning)).toEqual([false]);
  });

  it('kills a server that ignores SIGTERM', async () => {
    const script = `process.on("SIGTERM", () => {}); console.log(process.pid); ${idle}`;
    const { server, pids } = await startTree([node, '-e', script]);
    await server.stop();
    expect(await server.exited).toMatchObject({ code: null, signal: 'SIGKILL' });
    expect(pids.map(isRunning)).toEqual([false]);
  });

  it('reaches the grandchildren behind a shell', async () => {
    const script = `"${node}" -e 'console.log(process.pid); ${idle}' & wait`;
    const { server, pids } = await startTree(['sh', '-c', script]);
    expect(pids.map(isRunning)).toEqual([true]);
    await server.stop();
    expect(pids.map(isRunning)).toEqual([false]);
  });

  it('reaches grandchildren that outlive their parent and hold its stdout', async () => {
    const script = `"${node}" -e 'process.on("SIGTERM", () => {}); console.log(process.pid); ${idle}' & read line`;
    const { server, pids } = await startTree(['sh', '-c', script]);
    await server.stop();
    expect((await server.exited).signal).toBeNull();
    expect(pids.map(isRunning)).toEqual([false]);
  });

  it('ends a whole tree at once when asked to', async () => {
    const { server, pids } = await startTree(['sh', '-c', `"${node}" -e 'console.log(process.pid); ${idle}' & wait`]);
    await server.kill();
    expect(await server.exited).toMatchObject({ code: null, signal: 'SIGKILL' });
    expect(pids.map(isRunning)).toEqual([false]);
  });
});

describe('a server that ends by itself', () => {
  it('loses no output if its end is seen before its output, and every time limit has passed by then', async () => {
    // Its timers fire before the loop reads what has arrived, as after a long pause.
    const lateClock: Clock = { ...systemClock, sleep: async () => {} };
    const script = 'trap "echo answer; echo reason >&2; kill -KILL $$" TERM; echo ready; while :; do sleep 0.01; done';
    const { server } = start(['sh', '-c', script], lateClock);
    await once(server.stdout, 'data');
    let answer = '';
    server.stdout.on('data', (chunk: Buffer) => (answer += String(chunk)));
    // The end of the other process and its output arrive together. While the output is handled, the server ends; the loop then sees both ends.
    const other = start(['echo', 'output']).server;
    other.stdout.once('data', () => {
      process.kill(Number(server.pid), 'SIGTERM');
      pause();
    });
    pause();
    expect(await server.exited).toMatchObject({ signal: 'SIGKILL', lastLines: ['reason'] });
    expect(answer).toBe('answer\n');
    await other.exited;
  });

  it('reports its exit code', async () => {
    const { server } = start([node, '-e', 'process.exit(3)']);
    expect(await server.exited).toMatchObject({ code: 3, signal: null });
  });

  it('is reported although a descendant keeps its stdout open', async () => {
    const { server, pids } = await startTree([
      'sh',
      '-c',
      `"${node}" -e 'console.log(process.pid); ${idle}' & sleep 0.3; exit 4`,
    ]);
    expect(await server.exited).toMatchObject({ code: 4, signal: null });
    expect(pids.map(isRunning)).toEqual([true]);
    await server.stop();
    expect(pids.map(isRunning)).toEqual([false]);
  });

  it('is reported with the reason when it could not be started', async () => {
    const { server } = start(['no-such-command-here']);
    expect((await server.exited).error?.code).toBe('ENOENT');
    await server.stop();
  });
});

describe('what a server writes to stderr', () => {
  it('is kept to its last lines however much it is', async () => {
    const script =
      'const line = "x".repeat(1023) + "\\n"; for (let i = 0; i < 65536; i++) require("fs").writeSync(2, line); require("fs").writeSync(2, "the end\\n");';
    const { server, tail } = start([node, '-e', script]);
    server.stdout.resume();
    expect(await server.exited).toMatchObject({ code: 0, signal: null });
    expect(tail.readLines(2)).toEqual(['x'.repeat(1023), 'the end']);
    expect(tail.readLines(100_000).length).toBeLessThanOrEqual(257);
  });
});
