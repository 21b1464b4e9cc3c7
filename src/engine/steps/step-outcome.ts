import type { ProcessLoss } from '../process-loss.ts';
import type { StepResult } from '../../model/run.ts';

/** What a step came to. */
export interface StepOutcome {
  status: 'ok' | 'fail' | 'skipped';
  /** One sentence where it is not ok. */
  reason: string | null;
  /** What follows: the next step, the end of the iteration, or its end without a result because nothing was established. */
  effect: 'continue' | 'stop' | 'give-up';
  /** Where it is given up because the process of the server ended. */
  loss?: ProcessLoss;
  evidence?: NonNullable<StepResult['evidence']>;
}
