/** Whether this run draws as much as it can: `npm run test:soak`. */
export const makesAllDraws = process.env['PROPERTY_DRAWS'] === 'all';

/**
 * How many draws a property makes whose full amount costs seconds. `npm test` makes a tenth: with the fixed seed of
 * property-seed.ts it repeats the same draws, and these reach every outcome that the test counts. `npm run test:soak` makes all of them.
 */
export function countDraws(full: number): number {
  return makesAllDraws ? full : Math.ceil(full / 10);
}
