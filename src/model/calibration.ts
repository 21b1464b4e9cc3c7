import { hash } from 'node:crypto';
import { posix } from 'node:path';
import { z } from 'zod';
import { count, fraction } from './quantities.ts';

/** The settings that determine how a judge decides. */
export interface JudgeIdentity {
  rubric: string;
  /** `provider/name`. */
  model: string;
  /** The smallest score that passes; null if the judge itself says whether the answer passes. */
  threshold: number | null;
}

const fingerprint = z.string().regex(/^[\da-f]{32}$/);
const agreement = z.number().min(-1).max(1);

/**
 * The version of the instructions that judges get in addition to the rubric; raise it with each change. A calibration holds for one
 * version.
 */
export const judgeInstructionsVersion = 1;

/** The confidence of the interval in a calibration record. */
export const calibrationConfidence = 0.95;

/** Records how well a judge agreed with the labels of people. A gate needs this record to accept a judge whose checks are gating. */
export const calibrationSchema = z.strictObject({
  format: z.literal(1),
  judge: z.strictObject({
    rubricHash: fingerprint,
    model: z.string().min(1),
    threshold: fraction.nullable(),
    instructions: z.int().min(1).describe('The version of the instructions of the judge.'),
  }),
  date: z.iso.datetime().describe('When the judge answered; of recorded answers the oldest.'),
  examples: count,
  confusion: z.strictObject({ bothPassed: count, labelPassed: count, judgePassed: count, bothFailed: count }),
  accuracy: fraction,
  kappa: agreement,
  interval: z.strictObject({ confidence: fraction, lower: agreement, upper: agreement }),
});
export type Calibration = z.infer<typeof calibrationSchema>;

/** Returns the first 128 bits of the SHA-256 of a rubric, as hex. Ignores white space around the rubric. */
export function hashRubric(rubric: string): string {
  return hash('sha256', rubric.trim()).slice(0, 32);
}

/** Returns the path of a judge's calibration record, next to the file that names the judge. The path uses `/`, as messages show it. */
export function locateCalibration(file: string, { rubric, model, threshold }: JudgeIdentity): string {
  const name = hash('sha256', JSON.stringify([hashRubric(rubric), model, threshold])).slice(0, 32);
  return posix.join(posix.dirname(file), 'calibrations', `${name}.json`);
}
