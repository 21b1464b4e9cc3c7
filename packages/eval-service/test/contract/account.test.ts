import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ways } from '../../../../test/support/service/answers.ts';
import { type ContractService, openContractService } from '../../../../test/support/service/contract-service.ts';

describe('the account', () => {
  let service: ContractService;
  beforeAll(async () => {
    service = await openContractService();
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
  });

  it.each(ways)('getMe answers 200: the user of the key ($way)', async ({ open }) => {
    const { status, body } = await open(service)('getMe');
    expect({ status, body }).toMatchObject({ status: 200, body: { id: 'user_local' } });
  });

  it.each(ways)('getMe answers 401: an unknown key ($way)', async ({ open }) => {
    const { status, code } = await open(service)('getMe', {}, { key: 'sk_other' });
    expect({ status, code }).toEqual({ status: 401, code: 'UNAUTHORIZED' });
  });

  it.each(ways)('updateProject answers 400: a field that the API does not know ($way)', async ({ open }) => {
    const { status, code } = await open(service)('updateProject', { color: 'red' });
    expect({ status, code }).toEqual({ status: 400, code: 'VALIDATION_ERROR' });
  });
});
