import { endSentence } from '../base/text.ts';
import type { JsonObject } from '../base/json.ts';
import type { WitnessedEnd } from '../model/process-end.ts';
import type { StepResult } from '../model/run.ts';
import { describeLoss, type ProcessLoss } from './process-loss.ts';
import { clipReason } from '../checks/reasons.ts';

/** The outcome of a step. */
export interface StepOutcome {
  status: 'ok' | 'fail' | 'skipped';
  /** One sentence if the step did not pass; an advisory assertion can give one when it passed. */
  reason: string | null;
  /**
   * The next action: run the next step, end the iteration, or end it without a result (`give-up` and `unmeasured`). After `unmeasured`, the
   * iteration still has a result if an earlier step failed.
   */
  effect: 'continue' | 'stop' | 'give-up' | 'unmeasured';
  /** Set if the iteration is given up because the process of the server ended. */
  loss?: ProcessLoss;
  /** The unchanged MCP result of a request, including a result that is an error. Absent if there is none. */
  result?: unknown;
  evidence?: NonNullable<StepResult['evidence']>;
}

export function describeNoAnswer(what: string, message: string): string {
  return clipReason(endSentence(`The server gave no answer to ${what}: ${message}`));
}

/** Ends the iteration because the process is gone. Whether the iteration failed depends on the other iterations that the process served. */
export function giveUpByLoss(
  witnessed: WitnessedEnd,
  method: string,
  call?: { name: string; args: JsonObject },
): StepOutcome {
  return {
    status: 'fail',
    reason: describeLoss(witnessed, method),
    effect: 'give-up',
    ...(call !== undefined && { evidence: { toolCalls: [{ ...call, ok: false }] } }),
    loss: { ...witnessed, isDuringCall: true },
  };
}
