import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/time.ts';
import type { RunningServer } from '../../src/server/running-server.ts';
import { isRunning } from '../support/process/processes.ts';
import { openTestServer } from '../support/servers/running-server.ts';

describe.each(['off', 'auto'] as const)('a command next to a started server, sandbox %s', (mode) => {
  let server: RunningServer;
  let directory: string;

  beforeAll(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'command-'));
    server = await openTestServer(
      {
        cwd: directory,
        env: { FIXTURE: 'notes' },
        sandbox: { mode, network: 'on', writable: [], protect: [], make: { directories: [], files: [] } },
      },
      { environment: { PATH: process.env['PATH'], JOB_SECRET: 'canary' } },
    );
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    await rm(directory, { recursive: true, force: true });
  });

  const run = async (command: readonly string[], signal = new AbortController().signal) =>
    await server.witness?.runCommand?.(command, { signal });

  it('runs in the directory and the environment of the server, and without those of the job', async () => {
    const script = 'console.log(process.cwd(), process.env.FIXTURE, process.env.JOB_SECRET)';
    expect(await run([process.execPath, '-e', script])).toEqual({
      exitCode: 0,
      signal: null,
      stdout: `${directory} notes undefined\n`,
      stderr: '',
      startError: null,
    });
  });

  it('reports the exit code and what it wrote, and what cannot be started', async () => {
    const ended = await run(['sh', '-c', 'echo seeded; echo no table >&2; exit 4']);
    expect(ended).toMatchObject({ exitCode: 4, stdout: 'seeded\n', stderr: 'no table' });
    const missing = await run(['no-such-program']);
    expect(missing).toMatchObject({ exitCode: null, startError: expect.stringContaining('ENOENT') });
  });

  it('keeps what fits of a long output', async () => {
    const ended = await run([process.execPath, '-e', 'process.stdout.write("x".repeat(1_000_000))']);
    expect(ended?.stdout).toHaveLength(256 * 1024);
  });

  it('ends it and what it has started once the signal aborts', async () => {
    const file = path.join(directory, `pid-${mode}`);
    const abort = new AbortController();
    // In a namespace of its own a process has another number, so that a file shows whether it still runs.
    const child = `sleep 60 & echo $! > ${file}; wait`;
    const running = run(['sh', '-c', child], abort.signal);
    while (!existsSync(file) || readFileSync(file, 'utf8') === '') await systemClock.sleep(20);
    abort.abort(new Error('too late'));
    await expect(running).rejects.toThrow('too late');
    if (mode === 'off') expect(isRunning(Number(readFileSync(file, 'utf8')))).toBe(false);
  });
});
