import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findMedian } from './child.ts';

const rounds = 9;
const dist = new URL('../dist/', import.meta.url);

/** Measures the time from the start of the process to its first request, for the action's bundle and for two yardsticks, in turn. */
export async function measureColdStart(): Promise<void> {
  console.log(`\nCold start: from the start of the process to its first request, median of ${rounds} rounds`);
  const directory = await mkdtemp(join(tmpdir(), 'mcp-eval-ci-bench-'));
  await using listener = await listenForRequests();
  const undici = join(directory, 'undici.mjs');
  await writeFile(
    undici,
    `import { request } from ${JSON.stringify(import.meta.resolve('undici'))};\nawait request(process.env.URL).catch(() => {});`,
  );
  await writeFile(join(directory, 'empty.mjs'), '');

  const times = { empty: [] as number[], undici: [] as number[], action: [] as number[] };
  for (let round = 0; round < rounds; round += 1) {
    times.empty.push(await timeUntilExit(join(directory, 'empty.mjs')));
    times.undici.push(await listener.timeUntilRequest(undici, { URL: listener.url }));
    times.action.push(
      await listener.timeUntilRequest(new URL('index.js', dist).pathname, {
        INPUT_TESTS: '[{ title: t, steps: [{ toolCall: echo }] }]',
        'INPUT_SERVER-URL': listener.url,
        'INPUT_REPORT-DIR': directory,
      }),
    );
  }
  await rm(directory, { recursive: true });

  const [empty, bare, action] = [times.empty, times.undici, times.action].map(findMedian);
  if (empty === undefined || bare === undefined || action === undefined) return;
  console.log(`  empty Node, to its exit:          ${empty.toFixed(0)} ms`);
  console.log(`  undici alone, to its request:     ${bare.toFixed(0)} ms`);
  console.log(
    `  dist/index.js, to its request:    ${action.toFixed(0)} ms, ${(action / empty).toFixed(2)} × empty, ${(action / bare).toFixed(2)} × undici`,
  );
  for (const file of (await readdir(dist)).filter((name) => name.endsWith('.js'))) {
    const { size } = await stat(new URL(file, dist));
    console.log(`  dist/${file}: ${(size / 1e6).toFixed(2)} MB`);
  }
}

async function timeUntilExit(script: string): Promise<number> {
  const startedMs = performance.now();
  await once(spawn(process.execPath, [script], { stdio: 'ignore' }), 'close');
  return performance.now() - startedMs;
}

async function listenForRequests() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = address === null || typeof address === 'string' ? 0 : address.port;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    timeUntilRequest: async (script: string, env: Record<string, string>): Promise<number> => {
      const startedMs = performance.now();
      const child = spawn(process.execPath, [script], { env: { PATH: process.env['PATH'], ...env }, stdio: 'ignore' });
      const closed = once(child, 'close');
      await Promise.race([
        once(server, 'request'),
        closed.then(() => Promise.reject(new Error(`${script} asked nothing.`))),
      ]);
      const elapsedMs = performance.now() - startedMs;
      child.kill('SIGKILL');
      await closed;
      return elapsedMs;
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
