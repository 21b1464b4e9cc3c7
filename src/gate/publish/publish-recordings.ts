import { dirname, join, relative, resolve } from 'node:path';
import { describeError } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import { findOutputRoot } from '../../base/output-files.ts';
import type { Redactor } from '../../base/redaction.ts';
import { clipText, formatCount } from '../../base/text.ts';
import { compareBehaviour } from '../../models/recordings/compare-behaviour.ts';
import { locateTools, openRecordings, tidyTools, writeRecording } from '../../models/recordings/files.ts';
import type { Report } from '../../model/report.ts';
import type { GatePlan } from '../plan/plan.ts';
import type { PlannedModels } from '../plan/plan-models.ts';
import type { MadeRecording } from '../run/open-models.ts';
import { saveRecording } from '../run/save-recording.ts';

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
  const written: MadeRecording[] = [];
  const files = openRecordings(cwd);
  for (const each of made) {
    const { path, recording, skipped } = each;
    for (const [iteration, reason] of skipped) {
      logger.warning(`Iteration ${iteration} is not in the recording ${path}: ${reason}`);
    }
    if (recording.iterations.size === 0) continue;
    try {
      if (isInPlace) await saveRecording(each, { cwd, redactor });
      else {
        const copy = resolve(reportDir.path, relative(cwd, resolve(cwd, path)));
        const known = await files.readTools(path);
        await writeRecording({ path: copy, root: reportDir.root }, recording, redactor, known);
      }
      written.push(each);
    } catch (error) {
      logger.warning(`Could not write the recording ${labelPath(path)}: ${describeError(error)}`);
    }
  }
  if (isInPlace) {
    for (const directory of new Set(written.map(({ path }) => dirname(path)))) {
      await tidyTools({ path: resolve(cwd, directory), root: findOutputRoot(directory, cwd) });
    }
    if (made.length === 0) logger.info('Every recording fits; the gate recorded nothing.');
  }
  const labels = new Set([...written.map(({ path }) => path), ...written.map(({ path }) => locateTools(path))]);
  if (written.length > 0) logger.group(`Wrote ${formatCount(written.length, 'recording')}`, [...labels].map(labelPath));
  reportChanges(written, logger);

  function labelPath(path: string): string {
    return isInPlace ? path : join(reportDir.label, path);
  }
}

/** Says in how many recordings the model behaves otherwise than before, and shows those. */
function reportChanges(written: readonly MadeRecording[], logger: Logger): void {
  const again = written.flatMap(({ path, recording, earlier }) =>
    earlier === null ? [] : [{ path, changes: compareBehaviour(earlier, recording) }],
  );
  if (again.length === 0) return;
  const changed = again.filter(({ changes }) => changes.length > 0);
  const lines = changed.flatMap(({ path, changes }) => [
    path,
    ...changes
      .slice(0, maxShown)
      .flatMap(({ iteration, before, now }) => [
        `  iteration ${iteration}, recorded before: ${listCalls(before)}`,
        `  iteration ${iteration}, now: ${listCalls(now)}`,
      ]),
    ...(changes.length > maxShown ? [`  and ${formatCount(changes.length - maxShown, 'more iteration')}`] : []),
  ]);
  const title = `The behaviour changed in ${changed.length} of ${formatCount(again.length, 'recording')} made again`;
  if (lines.length === 0) logger.info(`${title}: the model makes the same calls as before.`);
  else logger.group(title, lines);
}

/** The iterations of one recording that are shown. */
const maxShown = 3;

const longestList = 300;

function listCalls(calls: readonly string[]): string {
  return calls.length === 0 ? 'no call' : clipText(calls.join(', '), longestList);
}
