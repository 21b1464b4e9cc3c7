import { createServer, Server } from 'node:net';
import { describeError, SandboxError } from '../base/errors.ts';
import { spawnProgram } from './spawn.ts';

/** Opens listening sockets on a loopback interface. */
export type Listen = () => Promise<Server>;

/** Opens a listening socket on the loopback interface of this machine. */
export const listenOnLoopback: Listen = async () => {
  const listener = createServer();
  await new Promise<void>((resolve, reject) => {
    listener.once('error', reject);
    listener.listen(0, '127.0.0.1', resolve);
  });
  return listener;
};

/**
 * The program that opens sockets in another network namespace. A socket stays in the namespace in which it was made, whichever process
 * holds it, so this process accepts connections from the namespace and needs no forwarding.
 */
const program = `
const { createServer } = require('node:net');
process.on('disconnect', () => process.exit());
process.on('message', () => {
  const server = createServer();
  server.on('error', (error) => process.send({ error: error.message }));
  server.listen(0, '127.0.0.1', () => process.send({}, server, () => server.close()));
});`;

const timeLimitMs = 30_000;

/** Opens sockets in a network namespace. Disposing it ends the process that opens them. */
interface NamespaceListeners extends AsyncDisposable {
  listen: Listen;
}

/** Prepares sockets in the namespace that `enter` leads to; starts a process with the first one. */
export function createNamespaceListeners(
  enter: readonly string[],
  descriptors: ReadonlyArray<number | 'ignore'>,
): NamespaceListeners {
  let child: ReturnType<typeof spawnProgram> | null = null;
  /** Answers come one at a time, so that each belongs to its question. */
  let last: Promise<unknown> = Promise.resolve();
  const start = () => {
    const [file = '', ...args] = enter;
    // The channel is descriptor 3; the namespaces follow.
    const words = [...args, '--', process.execPath, '-e', program];
    return spawnProgram(file, words, { cwd: '/', env: {}, stdio: ['ignore', 'ignore', 'pipe', 'ipc', ...descriptors] });
  };
  const ask = async (): Promise<Server> => {
    const asked = (child ??= start());
    let text = '';
    const addText = (chunk: Buffer) => {
      text += String(chunk);
    };
    asked.stderr?.on('data', addText);
    return await new Promise<Server>((resolve, reject) => {
      const fail = (why: string) => reject(new SandboxError(`No proxy can listen in the sandbox: ${why}.`));
      const timer = setTimeout(() => fail('the process that opens sockets there did not answer'), timeLimitMs);
      const settle = () => {
        clearTimeout(timer);
        asked.stderr?.off('data', addText);
        asked.removeAllListeners('message').removeAllListeners('exit').removeAllListeners('error');
      };
      asked.once('message', (message: { error?: string }, handle: unknown) => {
        settle();
        if (handle instanceof Server) resolve(handle);
        else fail(message.error ?? 'no socket arrived');
      });
      asked.once('error', (error) => {
        settle();
        fail(describeError(error));
      });
      asked.once('exit', (code, signal) => {
        settle();
        fail(text.trim().split('\n', 1)[0] || `the process that opens sockets there ended with ${signal ?? code}`);
      });
      asked.send('listen');
    });
  };
  return {
    listen: async () => {
      const next = last.then(ask, ask);
      last = next.catch(() => {});
      return await next;
    },
    [Symbol.asyncDispose]: async () => {
      const ended = child;
      if (ended === null || ended.exitCode !== null || ended.signalCode !== null) return;
      await new Promise<void>((resolve) => {
        ended.once('close', () => resolve());
        ended.kill('SIGKILL');
      });
    },
  };
}
