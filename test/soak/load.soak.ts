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

const usageSchema = z.object({ heapBytes: z.number(), cpuMs: z.number() });

/** Bytes of JavaScript in use after a full collection, and the CPU time so far. */
async function measureUsage(child: ChildProcess): Promise<z.infer<typeof usageSchema>> {
  const answered = once(child, 'message');
  child.send('measure');
  const [usage] = await answered;
  return usageSchema.parse(usage);
}

it(
  `serves ${rate} requests a second for ${seconds} seconds without an error, in flat memory`,
  // Each of the two stretches ends with the visits under way, which are 80 requests for each user.
  { timeout: 10 * (seconds * 1000 + (2 * users * 80 * 1000) / rate) },
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
      const early = await measureUsage(child);
      const ownCpu = process.cpuUsage();
      const rest = await load.run((seconds * 1000 * 4) / 5);
      const { user, system } = process.cpuUsage(ownCpu);
      const late = await measureUsage(child);
      const sent = warm.sent + rest.sent;
      const perSecond = (1000 * sent) / (warm.elapsedMs + rest.elapsedMs);
      const growth = late.heapBytes / early.heapBytes;
      // What does not depend on how busy the machine is: 5 ms together leave one core for 200 requests a second.
      const costs = [late.cpuMs - early.cpuMs, (user + system) / 1000].map((ms) => (ms / rest.sent).toFixed(2));
      console.log(
        `${sent} requests, ${perSecond.toFixed(1)} a second; CPU of a request: ${costs[0]} ms in serve, ${costs[1]} ms here.`,
        `Heap ${early.heapBytes} B early, ${late.heapBytes} B late, ratio ${growth.toFixed(3)}.`,
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
