import type { Peril } from '../support/faults/chaos.ts';
import { matrix, phases, type PhaseName } from './matrix.ts';

/** Everything in the matrix that can be put on a request of any job. */
export const perils: readonly Peril[] = matrix
  .filter(({ hasTls }) => hasTls !== true)
  .flatMap(({ fault, blows, cells, passes = false }) =>
    (Object.keys(cells) as PhaseName[]).flatMap((phaseName) => {
      const phase = phases[phaseName];
      // In the other phases what happens is no answer to a request.
      if (phaseName === 'P2' || phaseName === 'P3' || phaseName === 'PP') return [];
      return blows.map((blow) => ({ fault, phaseName, phase, blow, passes }));
    }),
  );
