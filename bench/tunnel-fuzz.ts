import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';
import type { Part, TunnelRig } from './tunnel-rig.ts';
import { watchGrowth } from './tunnel-stalls.ts';
import { formatMiB, printRow } from './tunnel-table.ts';

const frameCount = 100_000;
const limits = { maxReqBody: 1024, chunk: 65_536, maxInflight: 8 };
const kinds = ['hello', 'req', 'req_end', 'res', 'res_end', 'abort', 'window', '__proto__', 'x', 1, null];
const values = [
  '/api/mcp',
  'GET',
  'é\0',
  '',
  -1,
  0,
  1,
  7,
  2 ** 32,
  1.5,
  true,
  null,
  [],
  {},
  [['a', 'b']],
  [['a', 1]],
  limits,
];
const keys = ['id', 'method', 'url', 'headers', 'hasBody', 'status', 'code', 'msg', 'n', 'proto', 'limits', 'window'];

/** Sends noise that looks like frames to the host and to the edge. */
export async function measureFuzz({ edge, openHost }: TunnelRig): Promise<void> {
  const relay = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(relay, 'listening');
  relay.on('connection', (socket) =>
    socket.send(JSON.stringify({ t: 'hello', proto: 1, slug: 's', limits, window: 65_536 })),
  );
  const dialled = once(relay, 'connection') as Promise<[WebSocket]>;
  const grant = await edge.grant('fuzzed');
  const host = await openHost({
    ...grant,
    relayWsUrl: `ws://127.0.0.1:${(relay.address() as AddressInfo).port}/agent`,
  });
  const [toHost] = await dialled;
  await fuzz('host', host, toHost);
  relay.close();
  toHost.terminate();

  const toEdge = new WebSocket(grant.relayWsUrl, 'svc-tunnel.v1', {
    headers: { authorization: `Bearer ${grant.connectToken}` },
  });
  await once(toEdge, 'open');
  await fuzz('edge', edge.part, toEdge);
  toEdge.terminate();
}

async function fuzz(name: string, part: Part, socket: WebSocket): Promise<void> {
  const random = createRandom(20_261);
  let closed = 0;
  socket.on('error', () => {}).on('close', () => (closed += 1));
  // Warms up, so that the memory for any frames at all does not count.
  await sendNoise(socket, random, frameCount / 10);
  const [growth = 0] = await watchGrowth([part], async () => sendNoise(socket, random, frameCount));
  const { uncaught } = (await part.ask({})) as { uncaught: number };
  const outcome = `${uncaught} uncaught, ${closed} closed, +${formatMiB(growth)}`;
  printRow(`${frameCount.toLocaleString('en')} fuzzed frames to the ${name}`, outcome, null, '0, 0, <= 20 MiB');
}

async function sendNoise(socket: WebSocket, random: (below: number) => number, count: number): Promise<void> {
  for (let sent = 0; sent < count; sent += 1) {
    if (sent % 2 === 0)
      socket.send(JSON.stringify(shapeFrame(random)).slice(0, random(5) === 0 ? random(40) : undefined));
    else socket.send(Buffer.from(Array.from({ length: random(24) }, () => random(random(2) === 0 ? 3 : 256))));
    if (socket.bufferedAmount > 65_536) await new Promise((resolve) => setTimeout(resolve, 1));
  }
  // The ping is answered after all earlier frames were read.
  socket.ping();
  await once(socket, 'pong');
}

function shapeFrame(random: (below: number) => number): object {
  const fields = Array.from({ length: random(8) }, () => [keys[random(keys.length)], values[random(values.length)]]);
  return { ...Object.fromEntries(fields), t: kinds[random(kinds.length)] };
}

/** A small generator with a fixed sequence, so that every run sends the same (Park and Miller, "Random number generators", CACM 1988). */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
}
