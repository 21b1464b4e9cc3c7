import type { Clock } from '../../base/time.ts';
import type { SurfaceReport } from '../../model/surface-report.ts';
import type { PlannedSurface } from '../plan/plan-surface.ts';
import type { SurfaceTarget } from '../plan/surface-part.ts';
import type { BaseSide } from './base-side.ts';

/**
 * Compares the surface of the servers of the job with what is planned; undefined where nothing is, and where the base cannot be compared with.
 *
 * @throws the signal's reason once it aborts
 */
export async function readJobSurface(
  planned: PlannedSurface | null,
  targets: readonly SurfaceTarget[],
  {
    base,
    ...context
  }: { clock: Clock; signal: AbortSignal; base: Pick<BaseSide, 'listSurfaceTargets' | 'giveUp'> | null },
): Promise<SurfaceReport | undefined> {
  if (planned === null) return undefined;
  // Loaded when the plan was made, with the file or with the base.
  const { compareTargets, compareWithBase } = await import('../plan/surface-part.ts');
  return planned.text === null
    ? await compareWithBase(targets, base, context)
    : await compareTargets(targets, planned, context);
}

/** Where the job ended before the surface was read. */
export function leaveUnread(planned: PlannedSurface | null): SurfaceReport | undefined {
  if (planned === null) return undefined;
  return { against: planned.against, unread: 'the gate ended before it was read.', configurations: [] };
}
