import { expect, it } from 'vitest';
import { fuzzRouter } from '../../../test/support/service/router-fuzz.ts';

const seed = Number(process.env['PROPERTY_SEED'] ?? 20_261_121) || Math.trunc(Math.random() * 2 ** 31);

it('answers random requests with the documented success or an enveloped refusal', async () => {
  const { faults, succeeded } = await fuzzRouter(2000, seed);
  expect(faults, `seed ${seed}`).toEqual([]);
  // So that it is not the path or the key of every request that is refused.
  expect(succeeded.size).toBeGreaterThan(30);
});
