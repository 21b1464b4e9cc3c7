import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { matrix, type PhaseName, phases, type Row } from './matrix.ts';
import { type Certificates, makeCertificates } from '../support/faults/certificates.ts';
import { hasOpenssl } from '../support/network/https-server.ts';
import { runSeeds } from '../support/faults/run-cell.ts';

declare module 'vitest' {
  interface TaskMeta {
    /** The place of a test in the fault matrix. */
    cell?: { fault: number; what: string; phase: PhaseName };
  }
}

/**
 * At most so many jobs are run per cell; another first seed repeats what another run found. In this order, few of them choose every
 * alternative: the first lasts for good, and the next ones take another kind of the fault each.
 */
const seeds = [3, 2, 1, 0, 4].map((index) => Number(process.env['FAULT_SEED'] ?? 0) * 5 + index);

/** Runs every cell of a phase, each with all seeds. */
export function describePhase(phase: PhaseName, rows: readonly Row[] = matrix): void {
  describe(`phase ${phase}`, () => {
    let certificates: Certificates | undefined;
    const hasTls = rows.some((row) => row.hasTls === true && row.cells[phase] !== undefined);
    if (hasTls && hasOpenssl) {
      beforeAll(async () => {
        certificates = await makeCertificates();
      });
      afterAll(() => certificates?.[Symbol.dispose]());
    }
    for (const { fault, what, blows, cells, ...row } of rows) {
      const letter = cells[phase];
      if (letter === undefined) continue;
      const needsTls = row.hasTls === true;
      it.skipIf(needsTls && !hasOpenssl)(`fault ${fault}: ${what}`, async ({ task }) => {
        task.meta.cell = { fault, what, phase };
        const cell = { letter, phase: phases[phase], blows };
        const differences = await runSeeds(cell, {
          seeds,
          ...(needsTls ? { certificates: certificates! } : {}),
        });
        expect(differences.join('\n')).toBe('');
      });
    }
  });
}
