import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openContractService, type ContractService } from '../../support/service/contract-service.ts';

describe('operations of the API that this service lacks', () => {
  let service: ContractService;
  beforeAll(async () => {
    service = await openContractService();
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
  });

  it.each(['/eval-suites/x/cases/generate', '/agent'])('do not include %s, which needs a model', async (path) => {
    const { body } = await service.project.post(path, { messages: [{ role: 'user', content: 'Hello.' }] });
    expect(body.message).not.toContain('This service has no');
  });

  it('do not include other methods of the same paths', async () => {
    expect((await service.project.get('/tunnels')).status).toBe(404);
  });
});
