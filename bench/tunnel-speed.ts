import { once } from 'node:events';
import { request } from 'undici';
import { findMedian } from './child.ts';
import { measureCalls, measureDownload, measureUpload } from './tunnel-load.ts';
import { addTask } from './tunnel-rig.ts';
import type { TunnelRig } from './tunnel-rig.ts';
import { printRow } from './tunnel-table.ts';

const routeNames = ['direct', 'tunnel', 'hops'] as const;
type RouteName = (typeof routeNames)[number];
const transferBytes = 64 * 2 ** 20;

/** Measures all routes in turn, several times after one warm-up round, and returns the median of each. */
async function measureInTurn<K extends string>(
  { routes }: TunnelRig,
  rounds: number,
  measure: (route: string) => Promise<Record<K, number>>,
): Promise<Record<RouteName, Record<K, number>>> {
  const results: Record<RouteName, Array<Record<K, number>>> = { direct: [], tunnel: [], hops: [] };
  for (let round = 0; round <= rounds; round += 1) {
    for (const name of routeNames) {
      const result = await measure(routes[name]);
      if (round > 0) results[name].push(result);
    }
  }
  const findMedians = (name: RouteName) => {
    const keys = Object.keys(results[name][0] ?? {}) as K[];
    return Object.fromEntries(keys.map((key) => [key, findMedian(results[name].map((one) => one[key]))])) as Record<
      K,
      number
    >;
  };
  return { direct: findMedians('direct'), tunnel: findMedians('tunnel'), hops: findMedians('hops') };
}

export async function measureSmallCalls(rig: TunnelRig): Promise<void> {
  for (const concurrency of [1, 16, 64]) {
    const { direct, tunnel, hops } = await measureInTurn(rig, 5, async (route) =>
      measureCalls(addTask(route, 'call'), { concurrency, durationMs: 700 }),
    );
    if (concurrency === 1) {
      const [added, addedByHops] = [tunnel, hops].map(({ p50Ms }) => (p50Ms - direct.p50Ms) * 1000);
      const ours = `+${added?.toFixed(0)} µs, hops +${addedByHops?.toFixed(0)} µs`;
      printRow('small calls, 1 at once, p50', ours, (added ?? 0) / (addedByHops ?? 1), '<= 1 x hops');
    } else {
      const rates = `${tunnel.perSecond.toFixed(0)}/s, hops ${hops.perSecond.toFixed(0)}/s`;
      printRow(`small calls, ${concurrency} at once`, rates, tunnel.perSecond / hops.perSecond, '>= 1.3 x hops');
    }
  }
}

export async function measureTransfers(rig: TunnelRig): Promise<void> {
  const measures = {
    download: async (route: string) => measureDownload(addTask(route, 'download', transferBytes), transferBytes),
    upload: async (route: string) => measureUpload(addTask(route, 'call'), transferBytes),
  };
  for (const [name, bar] of [
    ['download', '>= 0.95 x hops'],
    ['upload', '>= 0.9 x hops'],
  ] as const) {
    const { tunnel, hops } = await measureInTurn(rig, 7, async (route) => ({
      rate: ((await measures[name](route)) * 1000) / 2 ** 20,
    }));
    const rates = `${tunnel.rate.toFixed(0)} MiB/s, hops ${hops.rate.toFixed(0)} MiB/s`;
    printRow(`64 MiB ${name}`, rates, tunnel.rate / hops.rate, bar);
  }
}

export async function measureEvents(rig: TunnelRig): Promise<void> {
  const { direct, tunnel } = await measureInTurn(rig, 40, async (route) => ({
    firstMs: await timeFirstEvent(addTask(route, 'events', 1)),
  }));
  const added = tunnel.firstMs - direct.firstMs;
  printRow('first event, p50 over direct', `+${added.toFixed(2)} ms`, null, '<= +2 ms');
  const sent = 500;
  const { body } = await request(addTask(rig.routes.tunnel, 'events', sent));
  const seen = (await body.text()).match(/^data: \d+$/gm)?.length ?? 0;
  printRow('events lost', `${sent - seen} of ${sent}`, null, '0');
}

async function timeFirstEvent(url: string): Promise<number> {
  const startedMs = performance.now();
  const { body } = await request(url);
  await once(body, 'data');
  const elapsedMs = performance.now() - startedMs;
  await body.dump();
  return elapsedMs;
}
