import { request } from 'undici';
import { expect, it } from 'vitest';
import { openContractService } from '../../../test/support/service/contract-service.ts';

// A service that computes for longer than it keeps an idle connection would close it without reading the request that has arrived.
it('keeps a connection for longer than it computes at a time', async () => {
  await using service = await openContractService();
  const { headers, body } = await request(`${service.baseUrl}/models`);
  await body.dump();
  expect(headers['keep-alive']).toBe('timeout=60');
});
