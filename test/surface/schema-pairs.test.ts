import { describe, expect, it } from 'vitest';
import { findMissed, judgePair } from '../support/factories/judge-pairs.ts';

// `npm run test:soak` judges 10,000 pairs.
const pairs = Array.from({ length: 400 }, (_, seed) => judgePair(seed));

describe('random pairs of schemas, judged with ajv', () => {
  it('are never said to refuse or allow no more where ajv finds a value that they do', () => {
    expect(pairs.flatMap((pair) => findMissed(pair).map((missed) => `${pair.seed}: ${missed}`))).toEqual([]);
  });

  it('are decided for the most part, and have values that were lost and gained', () => {
    const count = (isMeant: (pair: (typeof pairs)[number]) => boolean) => pairs.filter(isMeant).length;
    expect(count(({ narrows }) => narrows !== 'maybe')).toBeGreaterThan(250);
    expect(count(({ lost, narrows }) => lost.length > 0 && narrows === 'yes')).toBeGreaterThan(60);
    expect(count(({ gained, widens }) => gained.length > 0 && widens === 'yes')).toBeGreaterThan(40);
  });

  it('would be missed by a comparison that finds nothing', () => {
    const blind = pairs.map((pair) => ({ ...pair, narrows: 'no' as const, widens: 'no' as const }));
    expect(blind.flatMap(findMissed).length).toBeGreaterThan(150);
  });
});
