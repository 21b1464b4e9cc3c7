import { expect, it } from 'vitest';
import { baseEndings, baseMoments, listRemainsOfBase } from '../support/process/cancelled-base.ts';

// Every way to end a gate at every moment of its base, again and again. `REPEATS` says how often; `npm run test:soak`.

const repeats = Number(process.env['REPEATS'] ?? 3);
const cells = baseMoments.flatMap((moment) => baseEndings.map((ending) => [moment, ending] as const));

it.each(Array.from({ length: repeats }, () => cells).flat())(
  'leaves nothing of the base at the moment %s after %s',
  { timeout: 240_000 },
  async (moment, ending) => {
    expect(await listRemainsOfBase(moment, ending)).toEqual([]);
  },
);
