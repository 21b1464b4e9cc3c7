// Child of the tunnel's benchmark: the embedded service with its relay. Grants a tunnel for every name that it receives.
import { systemClock } from '../lib/base/time.js';
import { silentLogger } from '../lib/base/logger.js';
import { openEmbeddedService } from '../lib/eval-service/open-service.js';
import { limitHeapGrowth } from '../src/gate/host-process.ts';
import { openServiceClient } from '../lib/service/client.js';
import { serviceProfiles } from '../lib/service/profile.js';
import { createTunnel } from '../lib/service/tunnel-client.js';

// The action and the command do the same.
limitHeapGrowth();

const maxReqBody = 2 ** 30;
const service = await openEmbeddedService({
  clock: systemClock,
  logger: silentLogger,
  concurrency: 1,
  relayLimits: { maxReqBody },
});
const client = openServiceClient({
  baseUrl: service.baseUrl,
  apiKey: service.apiKey,
  profile: serviceProfiles.embedded,
  clock: systemClock,
  logger: silentLogger,
});
let uncaught = 0;
process.on('uncaughtException', () => {
  uncaught += 1;
});
process.on('message', (message: { grant?: string }) => {
  if (message.grant === undefined) return void process.send?.({ uncaught });
  void createTunnel(client, { projectId: service.projectId, name: message.grant }).then((grant) =>
    process.send?.({ ...grant, url: grant.url.reveal(), connectToken: grant.connectToken.reveal() }),
  );
});
process.on('disconnect', () => process.exit());
process.send?.({ port: Number(new URL(service.baseUrl).port) });
