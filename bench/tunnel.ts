import { measureRecovery, measureStops } from './tunnel-breaks.ts';
import { measureFuzz } from './tunnel-fuzz.ts';
import { openTunnelRig } from './tunnel-rig.ts';
import { measureEvents, measureSmallCalls, measureTransfers } from './tunnel-speed.ts';
import { measureStalledReader, measureStalledServer } from './tunnel-stalls.ts';

/** Measures the tunnel through the embedded service's relay, against the direct route and a chain of two `http-proxy` hops. */
export async function measureTunnel(): Promise<void> {
  console.log('\nTunnel: client, relay, host, server; every part a process, all routes in turn, medians');
  await using rig = await openTunnelRig();
  await measureSmallCalls(rig);
  await measureTransfers(rig);
  await measureStalledReader(rig);
  await measureStalledServer(rig);
  await measureRecovery(rig);
  await measureEvents(rig);
  await measureFuzz(rig);
  await measureStops(rig);
}
