import type { Clock } from '../../base/time.ts';
import type { SurfaceReport } from '../../model/surface-report.ts';
import type { PlannedSurface } from '../plan/plan-surface.ts';
import type { SurfaceTarget } from '../plan/surface-part.ts';

/**
 * Compares the surface of the servers of the job with what is planned; undefined where nothing is.
 *
 * @throws the signal's reason once it aborts
 */
export async function readJobSurface(
  planned: PlannedSurface | null,
  targets: readonly SurfaceTarget[],
  context: { clock: Clock; signal: AbortSignal },
): Promise<SurfaceReport | undefined> {
  if (planned === null) return undefined;
  // Loaded when the plan was made.
  const { compareTargets } = await import('../plan/surface-part.ts');
  return await compareTargets(targets, planned, context);
}

/** Where the job ended before the surface was read. */
export function leaveUnread(planned: PlannedSurface | null): SurfaceReport | undefined {
  if (planned === null) return undefined;
  return { against: planned.against, unread: 'the gate ended before it was read.', configurations: [] };
}
