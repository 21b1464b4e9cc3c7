import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { findFreePort } from '../support/network/free-port.ts';
import type { TestedServer } from './run-shape.ts';

const run = promisify(execFile);

const program = path.join(import.meta.dirname, 'fastmcp_server.py');

const cases: TestedServer['cases'] = {
  first: { tool: 'add', arguments: { a: 2, b: 3 }, contains: '5' },
  target: { tool: 'greet', arguments: { name: 'Grüße, 世界 𝄞' }, contains: 'Hello Grüße, 世界 𝄞' },
  last: { tool: 'count_words', arguments: { text: 'one two' }, contains: '2' },
};

/** The last of the second line of FastMCP, on the 1.x SDK, and one of the newest. */
export const fastMcpVersions = ['2.14.7', '4.1.2'] as const;

/**
 * Installs FastMCP into a virtual environment below `directory`, unless it is there.
 *
 * @throws where Python or the package index is absent.
 */
export async function installFastMcp(version: string, directory: string): Promise<string> {
  const home = path.join(directory, `fastmcp-${version}`);
  const python = path.join(home, 'bin/python');
  const isInstalled = async () =>
    existsSync(python) &&
    (await run(python, ['-c', 'import importlib.metadata as m; print(m.version("fastmcp"))']).then(
      ({ stdout }) => stdout.trim() === version,
      () => false,
    ));
  if (await isInstalled()) return python;
  await run('python3', ['-m', 'venv', home]);
  await run(python, ['-m', 'pip', 'install', '--quiet', `fastmcp==${version}`]);
  return python;
}

/** Opens FastMCP with one process over HTTP, and one that forks a server for each connection to a socket. */
export async function openFastMcp(version: string, python: string): Promise<TestedServer> {
  const port = await findFreePort();
  const socket = path.join(tmpdir(), `fastmcp-${randomUUID()}.sock`);
  await using stack = new AsyncDisposableStack();
  const start = (mode: string, place: string) => {
    const child = spawn(python, ['-W', 'ignore', program, mode, place], { stdio: 'ignore' });
    stack.defer(() => stop(child));
    return child;
  };
  start('http', String(port));
  start('fork', socket);
  stack.defer(() => rm(socket, { force: true }));
  await Promise.all([waitUntilListening({ port, host: '127.0.0.1' }), waitUntilListening({ path: socket })]);
  const disposal = stack.move();
  return {
    name: `FastMCP ${version}`,
    cases,
    stdio: `--connect ${socket}`,
    url: `http://127.0.0.1:${port}/mcp`,
    [Symbol.asyncDispose]: () => disposal.disposeAsync(),
  };
}

async function waitUntilListening(address: { port: number; host: string } | { path: string }): Promise<void> {
  for (;;) {
    const socket = connect(address as { path: string });
    const isUp = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isUp) return;
    await sleep(200);
  }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}
