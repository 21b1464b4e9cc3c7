import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { findFreePort } from '../network/free-port.ts';
import { everythingHttpServerPath } from './bundled-servers.ts';

export interface EverythingServer extends AsyncDisposable {
  url: string;
}

/** Starts the reference server over HTTP in a separate process, and waits until it listens. */
export async function startEverythingServer(): Promise<EverythingServer> {
  const port = await findFreePort();
  const child = spawn(process.execPath, [everythingHttpServerPath], {
    env: { PATH: process.env['PATH'], PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const exited = once(child, 'exit');
  const { promise: listening, resolve } = Promise.withResolvers<void>();
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    stderr += chunk;
    if (/listening on port/i.test(stderr)) resolve();
  });
  const died = exited.then(() => {
    throw new Error(`The server exited before it listened: ${stderr}`);
  });
  await Promise.race([listening, died]);
  died.catch(() => {});
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
