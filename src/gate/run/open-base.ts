import type { PlannedBase } from '../plan/plan-base.ts';
import type { FileSuite } from '../plan/plan-suites.ts';
import type { BaseContext, BaseSide } from './base-side.ts';
import type { RanSuite, SuiteRunContext } from './run-suite.ts';
import type { BasePairing } from './run-with-base.ts';

/** A base in the job, which also runs the change's suites next to those of the base. */
export interface ComparedBase extends BaseSide {
  run(planned: FileSuite, pairing: Omit<BasePairing, 'base'>, context: SuiteRunContext): Promise<RanSuite>;
}

/** Opens the base of a gate; starts nothing before `prepare`. Loads the code for it here, because most gates have no base in the job. */
export async function openBase(planned: PlannedBase, context: BaseContext): Promise<ComparedBase> {
  const { openBaseSide } = await import('./base-side.ts');
  const { runWithBase } = await import('./run-with-base.ts');
  const base = await openBaseSide(planned, context);
  return {
    ...base,
    run: async (suite, pairing, suiteContext) => await runWithBase(suite, { base, ...pairing }, suiteContext),
  };
}
