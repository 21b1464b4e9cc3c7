import { hash } from 'node:crypto';
import { posix } from 'node:path';
import { z } from 'zod';
import { count, fraction } from './quantities.ts';

/** What decides how a judge judges. */
export interface JudgeIdentity {
  rubric: string;
  /** `provider/name`. */
  model: string;
  /** Null where the judge says itself whether it passes. */
  threshold: number | null;
}

const fingerprint = z.string().regex(/^[\da-f]{32}$/);
const agreement = z.number().min(-1).max(1);

/** Counts the changes of the instructions that judges get in addition to the rubric. A calibration holds for one version. */
export const judgeInstructionsVersion = 1;

/** Of the interval in a record. */
export const calibrationConfidence = 0.95;

/** How well a judge agreed with the labels of people. A gate accepts a judge that gates by it. */
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

/** The first 128 bits of SHA-256. White space around a rubric makes no difference. */
export function hashRubric(rubric: string): string {
  return hash('sha256', rubric.trim()).slice(0, 32);
}

/** Where the record of a judge is, next to the file that names it; with `/`, as messages show it. */
export function locateCalibration(file: string, { rubric, model, threshold }: JudgeIdentity): string {
  const name = hash('sha256', JSON.stringify([hashRubric(rubric), model, threshold])).slice(0, 32);
  return posix.join(posix.dirname(file), 'calibrations', `${name}.json`);
}
