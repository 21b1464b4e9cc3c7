import { silentLogger } from '../../../src/base/logger.ts';
import { Secret } from '../../../src/base/redaction.ts';
import { openServiceClient } from '../../../src/service/client.ts';
import { createRunExactlyOnce } from '../../../src/service/launch.ts';
import { serviceProfiles } from '../../../src/service/profile.ts';
import { inlineTest, saveServer, saveSuite } from '../service/contract-service.ts';
import { afterwards, refuse } from './answers.ts';
import { createRandom } from './borrowed-globals.ts';
import { resetAfter, silence } from './deliveries.ts';
import { createFaultWorld } from './fault-world.ts';
import { forGood } from './letters.ts';

/**
 * Creates runs one after the other. The service accepts every one, but most of its answers are lost: reset, turned into a 502, or never sent.
 * Returns how many runs exist then, and how many different ones the receipts name.
 */
export async function createAmbiguously(
  creates: number,
  seed: number,
): Promise<{ runs: number; receipts: number; lost: number }> {
  await using world = await createFaultWorld({ seed });
  const { service, front, clock, mcpServer } = world;
  const random = createRandom(seed);
  const faults = [resetAfter, afterwards(refuse(502, 'INTERNAL_ERROR')), silence];
  let lost = 0;
  front.strike({
    route: 'run',
    from: 1,
    count: forGood,
    fault: async (exchange) => {
      const fault = faults[Math.floor(random() * 4)];
      if (fault === undefined) return exchange.reply(await exchange.forward());
      lost += 1;
      await fault(exchange);
    },
  });
  const serverId = await saveServer(service, { url: mcpServer.url });
  const { suiteId } = await saveSuite(service, serverId, [inlineTest('fail')]);
  const receipts = new Set<string>();
  for (let create = 0; create < creates; create += 1) {
    // Each create uses a separate client, like separate jobs of a pipeline, because the retry quota belongs to a client.
    await using client = openServiceClient({
      baseUrl: `${front.origin}/api/v1`,
      apiKey: new Secret(service.apiKey),
      profile: serviceProfiles.svc,
      clock,
      logger: silentLogger,
    });
    const name = `create-${String(create).padStart(6, '0')}`;
    const { created } = await createRunExactlyOnce(client, {
      projectId: service.projectId,
      run: { suiteId },
      idempotencyKey: name,
      marker: name,
      queueTimeoutMs: 3_600_000,
    });
    receipts.add(created.runId);
  }
  const { body } = await service.project.get('/eval-suites');
  return { runs: Number(body.items[0].totals.runs), receipts: receipts.size, lost };
}
