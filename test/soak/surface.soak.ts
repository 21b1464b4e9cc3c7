import { describe, expect, it } from 'vitest';
import { findMissed, judgePair } from '../support/factories/judge-pairs.ts';

// Changes of JSON Schemas, judged with ajv and by comparison. `PAIRS` says how many; `npm run test:soak`.

const count = Number(process.env['PAIRS'] ?? 10_000);

describe('random pairs of schemas', () => {
  it(`hide no value that ${count} of them refuse or allow anew`, { timeout: 3_600_000 }, () => {
    const tally = { decided: 0, refusing: 0, missed: new Array<string>() };
    for (let seed = 0; seed < count; seed += 1) {
      const pair = judgePair(seed);
      if (pair.narrows !== 'maybe') tally.decided += 1;
      if (pair.lost.length > 0) tally.refusing += 1;
      for (const missed of findMissed(pair)) tally.missed.push(`${seed}: ${missed}`);
    }
    console.log(`${count} pairs: ${tally.decided} decided, ${tally.refusing} with a value that is refused now.`);
    expect(tally.missed).toEqual([]);
  });
});
