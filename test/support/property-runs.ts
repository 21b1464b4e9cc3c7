/** True if this run makes all draws: `npm run test:soak`. */
export const makesAllDraws = process.env['PROPERTY_DRAWS'] === 'all';

/**
 * Returns the number of draws for a property whose full number takes seconds. `npm test` makes a tenth: with the fixed seed of
 * property-seed.ts, the draws are always the same, and they reach every outcome that the test counts. `npm run test:soak` makes all of them.
 */
export function countDraws(full: number): number {
  return makesAllDraws ? full : Math.ceil(full / 10);
}
