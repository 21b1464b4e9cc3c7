import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../../src/base/time.ts';
import { listPathFields, type Operation } from '../../../../src/service/operations/operation.ts';
import { listOperations } from '../../../../src/service/operations/table.ts';
import { ways } from '../../../../test/support/service/answers.ts';
import { type ContractService, openContractService } from '../../../../test/support/service/contract-service.ts';
import { openFailingService } from '../../../../test/support/service/failing-service.ts';
import { answersFromMemory, readsStore } from '../../../../test/support/service/generic-cells.ts';

const served = listOperations();
const metered = served.filter(({ errors }) => errors.includes(429));
const bothWays = (operations: readonly Operation[]) =>
  operations.flatMap((operation) => ways.map(({ way, open }) => ({ name: operation.name, operation, way, open })));

/** The fields that a request must have to be sent. */
const fieldsOf = ({ path, query }: Operation): Record<string, string> =>
  Object.fromEntries(
    [...listPathFields(path), ...Object.keys(query.shape).filter((name) => name === 'projectId')].map((name) => [
      name,
      'none',
    ]),
  );

describe('a service whose rate limit is reached', () => {
  let service: ContractService;
  beforeAll(async () => {
    service = await openContractService({ rateLimit: { perMinute: 0.001, burst: 0 } });
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
  });

  it.each(bothWays(metered))(
    '$name answers 429: more requests than the limit ($way)',
    async ({ name, operation, open }) => {
      const refused = await open(service)(name, fieldsOf(operation));
      expect(refused).toMatchObject({ status: 429, code: 'RATE_LIMITED' });
    },
  );

  it.each(metered.map(({ name, method, path }) => ({ name, method, path })))(
    '$name says in whole seconds when to ask again',
    async ({ method, path }) => {
      const headers = { authorization: `Bearer ${service.apiKey}` };
      const url = service.baseUrl + path.replaceAll(/\{\w+\}/g, 'none');
      const { status, headers: answered } = await fetch(url, { method, headers });
      expect({ status, retryAfter: Number(answered.get('retry-after')) }).toEqual({ status: 429, retryAfter: 60_000 });
      expect(answered.get('retry-after')).toMatch(/^[1-9]\d*$/);
    },
  );
});

describe('a service whose store fails', () => {
  let service: Awaited<ReturnType<typeof openFailingService>>;
  beforeAll(async () => {
    service = await openFailingService();
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
  });

  it.each(bothWays(served.filter(readsStore)))(
    '$name answers 500: a store that fails ($way)',
    async ({ name, operation, way, open }) => {
      const before = service.errors.length;
      const needed = name === 'createProject' ? { name: 'A project' } : {};
      const answer = await open(service)(name, { ...fieldsOf(operation), ...needed });
      expect(answer).toMatchObject({ status: 500, code: 'INTERNAL_ERROR' });
      expect(service.errors).toHaveLength(before + 1);
      // What failed is for the log alone.
      const body = { code: 'INTERNAL_ERROR', message: 'The service failed to answer; its log says why.' };
      if (way === 'http') expect(answer.body).toEqual(body);
    },
  );
});

describe('a service whose clock fails', () => {
  let service: ContractService;
  let isBroken = false;
  const clock = {
    ...systemClock,
    monotonicMs: () => {
      if (isBroken) throw new Error('The clock is broken.');
      return systemClock.monotonicMs();
    },
  };
  beforeAll(async () => {
    // Every request with a key reads the clock, to be metered.
    service = await openContractService({ clock, rateLimit: { perMinute: 60, burst: 10 } });
    isBroken = true;
  });
  afterAll(async () => {
    isBroken = false;
    await service[Symbol.asyncDispose]();
  });

  it.each(bothWays(served.filter(answersFromMemory)))(
    '$name answers 500: a clock that fails ($way)',
    async ({ name, operation, open }) => {
      const answer = await open(service)(name, fieldsOf(operation));
      expect(answer).toMatchObject({ status: 500, code: 'INTERNAL_ERROR' });
    },
  );
});
