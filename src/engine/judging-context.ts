import type { AppReader, Compared, Snapshots, ToolCatalog } from '../checks/judgement.ts';
import type { OwnCheck } from '../checks/own-check.ts';
import type { ElementCheck } from '../checks/elements.ts';
import type { ModelAnswer, ModelCall, ModelName } from '../models/language-model.ts';
import type { SchemaBudget } from './schema-check.ts';
import type { StepOutcome } from './step-outcome.ts';

/**
 * Makes one call of a judge.
 *
 * @throws {ModelError} if the model gives no answer
 * @throws the reason of the signal once it aborts
 */
export type AskJudge = (model: ModelName, call: ModelCall) => Promise<ModelAnswer>;

/** Records the calls of judges. */
export interface JudgeLog {
  /** Records that a judge is called now. Returns a function that records the answer. */
  beginCall(judge: { model: ModelName; isGating: boolean }): (answer: ModelAnswer) => void;
  /** Records the reason why no iteration of the run can have a result. */
  stopRun(reason: string): void;
}

/** The apps that an iteration shows. */
export interface ShownWidgets {
  /** Judges an assertion on the elements of an app; waits for it to hold. */
  assert(assertion: ElementCheck): Promise<StepOutcome>;
  /** Waits until the console output of all apps has arrived. */
  settle(): Promise<void>;
}

/** The services that judging may use in addition to the evidence. */
export interface JudgingContext extends SchemaBudget {
  /** Null if no model is available. */
  askJudge?: AskJudge | null;
  /** Null if this service has no snapshots, for example because no gate started it. */
  snapshots?: Snapshots | null;
  /** The checks of one's own that the gate knows, by name; null for none. */
  ownChecks?: ReadonlyMap<string, OwnCheck> | null;
  /** Null if there is no session with a server. */
  apps?: AppReader | null;
  /** Null if there is no session with a server. */
  tools?: ToolCatalog | null;
  /** Waits until the condition holds, for at most `maxWaitMs`. The default is the time in which a notification may still arrive. */
  waitForNotification?: ((isMet: () => boolean, maxWaitMs?: number) => Promise<void>) | null;
  /** Null if no apps are shown. */
  widgets?: ShownWidgets | null;
  judgeLog?: JudgeLog;
  /** Gets what failed checks compared, by their reasons. */
  differences?: Map<string, Compared>;
}
