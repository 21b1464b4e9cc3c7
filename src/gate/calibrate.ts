import type { ModelName, ModelSource } from '../models/language-model.ts';
import { collectOpinions } from '../engine/model-judge.ts';
import { type Calibration, calibrationConfidence, hashRubric, judgeInstructionsVersion } from '../model/calibration.ts';
import type { LabelledExample, Labels } from '../suite/read-labels.ts';
import { computeKappa, type RatingTable } from '../verdict/statistics/kappa.ts';

/** An example on which the judge and its label differ. */
export interface Disagreement {
  example: LabelledExample;
  /** The judge's reason for its opinion. */
  reason: string;
}

/** The opinions of a judge about labelled examples. */
export interface JudgedLabels {
  /** The first rating is the label, the second is the judge's. */
  table: RatingTable;
  disagreements: Disagreement[];
}

/** The number of examples that are judged at the same time. */
const concurrency = 4;

/**
 * Lets a judge judge labelled examples as in a gate: it confirms each fail. Each example is an iteration of one case, so that its calls can
 * be recorded.
 *
 * @throws {ModelError} if the judge gives no opinion on one of them
 * @throws the signal's reason once it aborts
 */
export async function judgeLabels(
  { judge, examples }: Labels,
  { model, source, signal }: { model: ModelName; source: ModelSource; signal: AbortSignal },
): Promise<JudgedLabels> {
  const failing = new AbortController();
  const either = AbortSignal.any([signal, failing.signal]);
  const queue = [...examples.entries()];
  const judged: Array<{ example: LabelledExample; isPassed: boolean; reason: string; index: number }> = [];
  const work = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const [index, example] = next;
      const session = await source.openSession({
        model,
        caseId: calibratedCase,
        iterationNumber: index + 1,
        apiKeys: new Map(),
        purpose: 'judge',
      });
      const { isPassed, deciding } = await collectOpinions(
        { ...judge, conversation: example.conversation },
        async (call) => await session.answer(call, { signal: either }),
      );
      judged.push({ example, isPassed, reason: deciding.reason, index });
    }
  };
  try {
    await Promise.all(Array.from({ length: concurrency }, work));
  } catch (error) {
    failing.abort(error);
    throw error;
  }
  const ordered = judged.toSorted((one, other) => one.index - other.index);
  const count = (label: boolean, opinion: boolean) =>
    ordered.filter(({ example, isPassed }) => example.isPassed === label && isPassed === opinion).length;
  return {
    table: {
      bothPassed: count(true, true),
      firstPassed: count(true, false),
      secondPassed: count(false, true),
      bothFailed: count(false, false),
    },
    disagreements: ordered.filter(({ example, isPassed }) => example.isPassed !== isPassed),
  };
}

/** The case id of the examples in recordings; they belong to no case. */
export const calibratedCase = 'calibration';

/** Builds the record of a calibration. `date` is when the judge answered, ISO 8601. */
export function buildCalibration({ judge, examples }: Labels, table: RatingTable, date: string): Calibration {
  const agreement = computeKappa(table, calibrationConfidence);
  // Labels of both kinds are required, so that chance never explains everything.
  if (agreement === null) throw new Error('The examples have one label only.');
  const { accuracy, kappa, lower, upper } = agreement;
  const { bothPassed, firstPassed, secondPassed, bothFailed } = table;
  return {
    format: 1,
    judge: {
      rubricHash: hashRubric(judge.rubric),
      model: judge.model,
      threshold: judge.threshold,
      instructions: judgeInstructionsVersion,
    },
    date,
    examples: examples.length,
    confusion: { bothPassed, labelPassed: firstPassed, judgePassed: secondPassed, bothFailed },
    accuracy: round(accuracy),
    kappa: round(kappa),
    interval: { confidence: calibrationConfidence, lower: round(lower), upper: round(upper) },
  };
}

/**
 * Keeps four digits, since more say nothing about so few examples. Rounds down, so that a bound that is too low does not reach the minimum
 * by rounding.
 */
function round(value: number): number {
  return Math.floor(value * 1e4 + 1e-9) / 1e4;
}
