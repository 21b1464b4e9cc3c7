import type { AppReader, Snapshots } from '../checks/judgement.ts';
import type { ElementCheck } from '../checks/elements.ts';
import type { ModelAnswer, ModelCall, ModelName } from '../models/language-model.ts';
import type { SchemaBudget } from './schema-check.ts';
import type { StepOutcome } from './step-outcome.ts';

/**
 * Makes one call of a judge.
 *
 * @throws {ModelError} where there is no answer
 * @throws the reason of the signal once it aborts
 */
export type AskJudge = (model: ModelName, call: ModelCall) => Promise<ModelAnswer>;

/** Hears what the calls of judges come to. */
export interface JudgeLog {
  /** Notes that a judge is asked now. The function that it returns takes the answer. */
  beginCall(judge: { model: ModelName; isGating: boolean }): (answer: ModelAnswer) => void;
  /** Hears why no iteration of the run can have a result. */
  stopRun(reason: string): void;
}

/** The apps that an iteration shows. */
export interface ShownWidgets {
  /** Judges an assertion on the elements of an app, for which it waits. */
  assert(assertion: ElementCheck): Promise<StepOutcome>;
  /** Waits until what the apps have written to their consoles is known. */
  settle(): Promise<void>;
}

/** What judging may take in addition to the evidence. */
export interface JudgingAids extends SchemaBudget {
  /** Null where no model may be asked. */
  askJudge?: AskJudge | null;
  /** Null where none are known, as in a service that a gate did not start. */
  snapshots?: Snapshots | null;
  /** Null where no server is at hand. */
  apps?: AppReader | null;
  /** Waits until the condition holds, for at most `maxWaitMs`; unless given, for as long as a notification may be on its way. */
  waitForNotification?: ((isMet: () => boolean, maxWaitMs?: number) => Promise<void>) | null;
  /** Null where no app is shown. */
  widgets?: ShownWidgets | null;
  judgeLog?: JudgeLog;
}
