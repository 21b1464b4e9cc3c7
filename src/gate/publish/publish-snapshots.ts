import { resolve } from 'node:path';
import { describeError } from '../../base/errors.ts';
import { leadsOutOf } from '../../base/files.ts';
import { replaceOutput } from '../../base/output-files.ts';
import type { Logger } from '../../base/logger.ts';
import type { Redactor } from '../../base/redaction.ts';
import { formatCount } from '../../base/text.ts';
import { describeOutside } from '../../suite/load-snapshots.ts';
import type { GatePlan } from '../plan/plan.ts';
import type { TakenSnapshot } from '../run/snapshots.ts';

/** Writes the snapshots that a gate took, and logs each. Warns about a snapshot that cannot be written, or that holds a known secret. */
export async function publishSnapshots(
  taken: readonly TakenSnapshot[],
  { snapshots, cwd }: Pick<GatePlan, 'snapshots' | 'cwd'>,
  { logger, redactor }: { logger: Logger; redactor: Redactor },
): Promise<void> {
  if (snapshots?.isUpdating !== true) return;
  const written: string[] = [];
  for (const { file, text, isNew } of taken) {
    try {
      // The server under test has run since the plan, and may have created a link there.
      if (await leadsOutOf(resolve(cwd, snapshots.folders.get(file) ?? '.'), resolve(cwd, file))) {
        logger.warning(`${describeOutside(file)}. The gate did not write it.`);
      } else if (redactor.redact(text) !== text) {
        logger.warning(`The snapshot ${file} has a part that is a known secret, so the gate did not write it.`);
      } else {
        // The root is the folder of the evals file, which may itself be outside of the checkout.
        replaceOutput(resolve(cwd, file), text, resolve(cwd, snapshots.folders.get(file) ?? '.'));
        written.push(`${file} (${isNew ? 'new' : 'changed'})`);
      }
    } catch (error) {
      logger.warning(`Could not write the snapshot ${file}: ${describeError(error)}`);
    }
  }
  if (written.length === 0) logger.info('Every snapshot is as it was; the gate wrote none.');
  else logger.group(`Wrote ${formatCount(written.length, 'snapshot')}`, written);
}
