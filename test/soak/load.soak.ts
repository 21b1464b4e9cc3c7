import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { startEchoServer } from '../support/servers/echo-server.ts';
import { createApiCaller } from '../support/service/api-caller.ts';
import { createLoad } from '../support/service/mixed-load.ts';

// `SECONDS` says how long, `RATE` how many requests a second are sent.

const seconds = Number(process.env['SECONDS'] ?? 600);
const rate = Number(process.env['RATE'] ?? 200);
/** Users at the same time: enough that some of them are never waiting for an answer. */
const users = 60;
/** The heap at the end, relative to the one after the first fifth, when everything has been loaded and compiled. */
const mostGrowth = 1.25;
const command = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
const reporter = new URL('../support/process/heap-reporter.ts', import.meta.url).href;
const readySchema = z.object({ baseUrl: z.string(), apiKey: z.string() });

/** Bytes of JavaScript in use after a full collection. */
async function measureHeap(child: ChildProcess): Promise<number> {
  const answered = once(child, 'message');
  child.send('measure');
  const [used] = await answered;
  return z.number().parse(used);
}

it(
  `serves ${rate} requests a second for ${seconds} seconds without an error, in flat memory`,
  { timeout: 0 },
  async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'load-soak-'));
    await using mcp = await startEchoServer();
    const args = ['--import', reporter, command, 'serve', '--data', dataDir];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
    const exited = once(child, 'exit');
    try {
      if (child.stdout === null) throw new Error('The process has no pipe as stdout.');
      const ready = once(createInterface({ input: child.stdout }), 'line').then(([line]) => String(line));
      const line = await Promise.race([ready, exited.then(() => null)]);
      if (line === null) throw new Error('serve exited before it was ready.');
      const { baseUrl, apiKey } = readySchema.parse(JSON.parse(line));
      const load = createLoad(createApiCaller(baseUrl, apiKey), { serverUrl: mcp.url, rate, users });
      const warm = await load.run((seconds * 1000) / 5);
      const early = await measureHeap(child);
      const rest = await load.run((seconds * 1000 * 4) / 5);
      const late = await measureHeap(child);
      const sent = warm.sent + rest.sent;
      const perSecond = (1000 * sent) / (warm.elapsedMs + rest.elapsedMs);
      const growth = late / early;
      console.log(
        `${sent} requests, ${perSecond.toFixed(1)} a second; heap ${early} B early, ${late} B late, ratio ${growth.toFixed(3)}.`,
        Object.fromEntries([...load.statuses].toSorted(([a], [b]) => a - b)),
      );
      expect(load.errors).toEqual([]);
      expect(growth).toBeLessThan(mostGrowth);
    } finally {
      child.kill('SIGTERM');
      await exited;
      await rm(dataDir, { recursive: true });
    }
  },
);
