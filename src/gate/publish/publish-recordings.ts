import { join, relative, resolve } from 'node:path';
import { describeError } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import { findOutputRoot } from '../../base/output-files.ts';
import type { Redactor } from '../../base/redaction.ts';
import { formatCount } from '../../base/text.ts';
import { writeRecording } from '../../models/recordings/files.ts';
import type { Report } from '../../model/report.ts';
import type { GatePlan } from '../plan/plan.ts';
import type { PlannedModels } from '../plan/plan-models.ts';
import type { MadeRecording } from '../run/open-models.ts';

/** Checks if every case that needs a model for its result has a result: only then do the recordings have all that a replay needs. */
export function isFullyRecorded({ cases }: Pick<Report, 'cases'>, models: Pick<PlannedModels, 'cases'>): boolean {
  const decisive = models.cases.filter(({ isDecisive }) => isDecisive);
  const needed = new Set(decisive.map(({ suiteId, caseId }) => JSON.stringify([suiteId, caseId])));
  return cases.every(
    ({ suiteId, id, planned, total }) => planned <= total || !needed.has(JSON.stringify([suiteId, id])),
  );
}

/**
 * Writes the recordings of a gate. In place, they replace the earlier ones next to the evals files; else they go below the report directory,
 * so that they can be reviewed and committed. Warns about a recording that cannot be written.
 */
export async function publishRecordings(
  made: readonly MadeRecording[],
  { reportDir, cwd }: Pick<GatePlan, 'reportDir' | 'cwd'>,
  { isInPlace, logger, redactor }: { isInPlace: boolean; logger: Logger; redactor: Redactor },
): Promise<void> {
  const written: string[] = [];
  for (const { path, recording, skipped } of made) {
    for (const [iteration, reason] of skipped) {
      logger.warning(`Iteration ${iteration} is not in the recording ${path}: ${reason}`);
    }
    if (recording.iterations.size === 0) continue;
    const label = isInPlace ? path : join(reportDir.label, path);
    try {
      const place = isInPlace
        ? { path: resolve(cwd, path), root: findOutputRoot(path, cwd) }
        : { path: resolve(reportDir.path, relative(cwd, resolve(cwd, path))), root: reportDir.root };
      await writeRecording(place, recording, redactor);
      written.push(label);
    } catch (error) {
      logger.warning(`Could not write the recording ${label}: ${describeError(error)}`);
    }
  }
  if (isInPlace && made.length === 0) logger.info('Every recording fits; the gate recorded nothing.');
  if (written.length > 0) logger.group(`Wrote ${formatCount(written.length, 'recording')}`, written);
}
