import { expect, it } from 'vitest';
import { findHiddenTool } from '../../src/engine/hidden-tools.ts';
import { ManualClock } from '../support/clocks/manual-clock.ts';
import { startFixtureMcpServer } from '../support/servers/fixture-mcp-server.ts';

it('gives up on a server that does not list its tools in time, by the clock that it is given', async () => {
  const asked = Promise.withResolvers<void>();
  await using server = await startFixtureMcpServer(
    {},
    {
      era: 'legacy',
      prepare: (each) =>
        each.setRequestHandler('tools/list', async () => {
          asked.resolve();
          return await new Promise<never>(() => {});
        }),
    },
  );
  const clock = new ManualClock();
  const target = { url: server.url, serverName: 'slow', protocol: 'legacy' as const };
  const found = findHiddenTool(['hidden'], target, { offer: {}, clock });
  await asked.promise;
  await clock.advance(30_000);
  expect(await found).toBe(
    'The server lists no tool "hidden", and could not be asked for its tools with elicitation, sampling and roots announced: The list took longer than 30 s.',
  );
});
