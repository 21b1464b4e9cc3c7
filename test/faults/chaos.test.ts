import { expect, it } from 'vitest';
import { describeSchedule, drawSchedule, runSchedule } from '../support/faults/chaos.ts';
import { perils } from './perils.ts';

/** `npm run test:chaos` runs as many others as one likes. */
const seeds = Array.from({ length: 40 }, (_, index) => 1000 + index);

it.each(seeds)('keeps every promise under the faults of seed %i', async (seed) => {
  const schedule = drawSchedule(seed, perils);
  const breaches = await runSchedule(schedule);
  expect([describeSchedule(schedule), ...breaches]).toEqual([describeSchedule(schedule)]);
});
