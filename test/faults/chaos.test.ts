import { expect, it } from 'vitest';
import { countDraws } from '../support/property-runs.ts';
import { describeSchedule, drawSchedule, runSchedule } from '../support/faults/chaos.ts';
import { perils } from './perils.ts';

/** `npm run test:soak` runs a hundred, and `npm run test:chaos` as many others as one likes. */
const seeds = Array.from({ length: countDraws(100) }, (_, index) => 1000 + index);

it.each(seeds)('keeps every promise under the faults of seed %i', async (seed) => {
  const schedule = drawSchedule(seed, perils);
  const breaches = await runSchedule(schedule);
  expect([describeSchedule(schedule), ...breaches]).toEqual([describeSchedule(schedule)]);
});
