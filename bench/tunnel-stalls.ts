import { Readable } from 'node:stream';
import { Pool, request } from 'undici';
import { listBlocks, makeCall, measureCalls } from './tunnel-load.ts';
import { addTask } from './tunnel-rig.ts';
import type { Part, TunnelRig } from './tunnel-rig.ts';
import { formatMiB, printRow } from './tunnel-table.ts';

const callTimeoutMs = 2000;

/** Runs `work` and returns the maximum growth of each part's memory. */
export async function watchGrowth(parts: readonly Part[], work: () => Promise<void>): Promise<number[]> {
  const before = await Promise.all(parts.map(async (part) => part.readRssBytes()));
  const most = [...before];
  const look = async () => {
    const now = await Promise.all(parts.map(async (part) => part.readRssBytes()));
    for (const [index, bytes] of now.entries()) most[index] = Math.max(most[index] ?? 0, bytes);
  };
  const timer = setInterval(() => void look(), 50);
  await work();
  clearInterval(timer);
  await look();
  return most.map((bytes, index) => bytes - (before[index] ?? 0));
}

/** Measures 1 GiB on its way to a client that reads nothing, while others make calls. */
export async function measureStalledReader({ routes, edge, host }: TunnelRig): Promise<void> {
  const task = addTask(routes.tunnel, 'call');
  await measureCalls(task, { concurrency: 16, durationMs: 3000 });
  let timeouts = 0;
  let calls = 0;
  const [edgeGrowth = 0, hostGrowth = 0] = await watchGrowth([edge.part, host], async () => {
    const { body } = await request(addTask(routes.tunnel, 'download', 2 ** 30));
    body.on('error', () => {});
    const { origin, pathname, search } = new URL(task);
    const pool = new Pool(origin);
    const endsAtMs = performance.now() + 3000;
    const work = async () => {
      while (performance.now() < endsAtMs) {
        calls += 1;
        await makeCall(pool, `${pathname}${search}`, callTimeoutMs).catch(() => {
          timeouts += 1;
        });
      }
    };
    await Promise.all(Array.from({ length: 16 }, work));
    await pool.close();
    body.destroy();
  });
  const growth = `edge +${formatMiB(edgeGrowth)}, host +${formatMiB(hostGrowth)}`;
  printRow('1 GiB to a stalled reader', growth, null, '<= 32 MiB each');
  printRow('  other calls that took over 2 s', `${timeouts} of ${calls}`, null, '0');
}

/** Measures 512 MiB on their way to a server that reads nothing. */
export async function measureStalledServer({ routes, host, edge }: TunnelRig): Promise<void> {
  const [hostGrowth = 0, edgeGrowth = 0] = await watchGrowth([host, edge.part], async () => {
    const leave = new AbortController();
    const sending = request(addTask(routes.tunnel, 'ignore'), {
      method: 'POST',
      headers: { 'content-length': String(2 ** 29) },
      body: Readable.from(listBlocks(2 ** 29), { objectMode: false }),
      signal: leave.signal,
    });
    setTimeout(() => leave.abort(), 3000);
    await sending.catch(() => {});
  });
  const growth = `host +${formatMiB(hostGrowth)}, edge +${formatMiB(edgeGrowth)}`;
  printRow('512 MiB to a server that does not read', growth, null, '<= 16 MiB (host)');
}
