// Runs programs that test a server over HTTP against one that speaks stdio, behind a gateway. It is a program of its own, since a gate runs
// programs to their end. Its arguments are the program of `supergateway`, the start script of the server, and each command as JSON, in
// which `{{url}}` stands for the address of the server. It exits with 1 where a command fails, and with 2 where the gateway does not start.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { findPort } from './port.ts';

const [gateway = '', start = '', ...commands] = process.argv.slice(2);

const port = await findPort();
const child = startGateway();
process.exitCode = (await listens(child)) ? await runCommands() : 2;
await endGateway(child);

/**
 * It starts the server anew for each session, in process groups of their own, which it ends itself. It is no part of the group of this
 * program, so that it still does so where a limit kills the group: then its input is closed, which ends it.
 */
function startGateway(): ChildProcess {
  const output = ['--port', String(port), '--outputTransport', 'streamableHttp', '--stateful'];
  const args = [gateway, '--stdio', start, ...output, '--logLevel', 'none'];
  return spawn(process.execPath, args, { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
}

/** Waits until the gateway accepts connections; false where it ends before. */
async function listens(started: ChildProcess): Promise<boolean> {
  while (started.exitCode === null && started.signalCode === null) {
    if (await accepts()) return true;
    await wait(50);
  }
  return false;
}

async function accepts(): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const isConnected = await once(socket, 'connect').then(
    () => true,
    () => false,
  );
  socket.destroy();
  return isConnected;
}

/** Runs all commands, one after the other, whichever of them fails. */
async function runCommands(): Promise<number> {
  let exitCode = 0;
  for (const command of commands) {
    const [file = '', ...args] = (JSON.parse(command) as string[]).map((word) =>
      word.replaceAll('{{url}}', `http://127.0.0.1:${port}/mcp`),
    );
    const [code] = (await once(spawn(file, args, { stdio: ['ignore', 'inherit', 'inherit'] }), 'close')) as [unknown];
    if (code !== 0) exitCode = 1;
  }
  return exitCode;
}

async function endGateway(started: ChildProcess): Promise<void> {
  const hasEnded = started.exitCode !== null || started.signalCode !== null;
  started.stdin?.end();
  if (!hasEnded) await once(started, 'close');
}
