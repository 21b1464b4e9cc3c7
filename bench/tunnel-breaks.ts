import { request } from 'undici';
import { startTcpProxy } from '../test/support/network/tcp-proxy.ts';
import type { TcpProxy } from '../test/support/network/tcp-proxy.ts';
import { findMedian } from './child.ts';
import { addTask } from './tunnel-rig.ts';
import type { TunnelRig } from './tunnel-rig.ts';
import { printRow } from './tunnel-table.ts';

/** Opens a separate tunnel on a network that can be broken. */
async function openBreakable({ edge, openHost }: TunnelRig): Promise<{ network: TcpProxy; url: string }> {
  const network = await startTcpProxy(edge.port);
  const grant = await edge.grant('breakable');
  await openHost({ ...grant, relayWsUrl: grant.relayWsUrl.replace(String(edge.port), String(network.port)) });
  return { network, url: addTask(grant.url, 'call') };
}

export async function measureRecovery(rig: TunnelRig): Promise<void> {
  const { network, url } = await openBreakable(rig);
  await timeUntilServed(url);
  const timesMs: number[] = [];
  for (let turn = 0; turn < 10; turn += 1) {
    network.cut();
    timesMs.push(await timeUntilServed(url));
    await sleep(100);
  }
  const times = `${findMedian(timesMs).toFixed(0)} / ${Math.max(...timesMs).toFixed(0)} ms`;
  printRow('recovery after a reset, median / max of 10', times, null, '<= 50 / <= 250 ms');
  network.silence();
  const silentMs = await timeUntilServed(url);
  printRow('silent loss, until back in service', `${(silentMs / 1000).toFixed(1)} s`, null, '<= 10 s');
  await network[Symbol.asyncDispose]();
}

async function timeUntilServed(url: string): Promise<number> {
  const startedMs = performance.now();
  for (;;) {
    const answer = await request(url, { signal: AbortSignal.timeout(1000) }).catch(() => null);
    await answer?.body.dump();
    const elapsedMs = performance.now() - startedMs;
    if (answer?.statusCode === 200) return elapsedMs;
    if (elapsedMs > 60_000) throw new Error('The tunnel did not come back within a minute.');
  }
}

export async function measureStops({ edge, openHost }: TunnelRig): Promise<void> {
  const idle = await openHost(await edge.grant('idle'));
  const { stoppedMs: idleMs } = (await idle.ask({ stop: true })) as { stoppedMs: number };
  printRow('idle stop', `${idleMs.toFixed(0)} ms`, null, '<= 1 s');

  const grant = await edge.grant('busy');
  const busy = await openHost(grant);
  const calls = Array.from({ length: 10 }, async () => {
    const { statusCode, body } = await request(addTask(grant.url, 'wait', 500));
    await body.dump();
    return statusCode;
  });
  await sleep(200);
  const { stoppedMs } = (await busy.ask({ stop: true })) as { stoppedMs: number };
  const finished = (await Promise.all(calls)).filter((status) => status === 200).length;
  printRow('drain, 10 calls of 500 ms', `${finished} finished, ${stoppedMs.toFixed(0)} ms`, null, '10 within 2 s');
}

async function sleep(delayMs: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, delayMs));
}
