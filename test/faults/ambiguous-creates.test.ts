import { expect, it } from 'vitest';
import { createAmbiguously } from '../support/faults/ambiguous-creates.ts';

/** `npm run test:chaos -- --runs 0 --creates 1000` does it as often as one likes. */
it('starts as many runs as were asked for, although most answers are lost after the service has taken the request', async () => {
  const { runs, receipts, lost } = await createAmbiguously(60, 1);
  expect({ runs, receipts }).toEqual({ runs: 60, receipts: 60 });
  expect(lost).toBeGreaterThan(60);
});
