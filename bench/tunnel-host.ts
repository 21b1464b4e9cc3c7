// Child of the tunnel's benchmark: a tunnel host. Answers `stop` with the duration of the stop.
import { systemClock } from '../lib/base/time.js';
import { silentLogger } from '../lib/base/logger.js';
import { Secret } from '../lib/base/redaction.js';
import { limitHeapGrowth } from '../src/gate/host-process.ts';
import { openTunnelHost } from '../lib/tunnel/host.js';

// The action and the command do the same.
limitHeapGrowth();

const [relayWsUrl = '', connectToken = '', serverId = '', url = ''] = process.argv.slice(2);
let uncaught = 0;
process.on('uncaughtException', () => {
  uncaught += 1;
});
const host = await openTunnelHost({
  relayWsUrl,
  connectToken: new Secret(connectToken),
  serverId,
  subprotocol: 'svc-tunnel.v1',
  target: { url },
  clock: systemClock,
  logger: silentLogger,
  signal: new AbortController().signal,
});
process.on('message', async (message: { stop?: boolean }) => {
  if (message.stop !== true) return void process.send?.({ uncaught });
  const startedMs = performance.now();
  await host[Symbol.asyncDispose]();
  process.send?.({ stoppedMs: performance.now() - startedMs });
  process.disconnect();
});
process.on('disconnect', () => process.exit());
process.send?.({ connected: true });
