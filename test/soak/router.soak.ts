import { expect, it } from 'vitest';
import { fuzzRouter } from '../support/service/router-fuzz.ts';

// `REQUESTS` says how many; `PROPERTY_SEED` repeats a run.

const requests = Number(process.env['REQUESTS'] ?? 100_000);
const seed = Number(process.env['PROPERTY_SEED'] ?? 0) || Math.trunc(Math.random() * 2 ** 31);

it(
  `answers ${requests} random requests with the documented success or an enveloped refusal`,
  // For a request that hangs; one took 11 ms on a busy machine.
  { timeout: 60_000 + requests * 100 },
  async () => {
    const { faults, statuses } = await fuzzRouter(requests, seed);
    console.log('Answers by status:', Object.fromEntries(statuses));
    expect(faults, `seed ${seed}`).toEqual([]);
  },
);
