import { endSentence } from '../base/text.ts';
import type { JsonObject } from '../base/json.ts';
import type { WitnessedEnd } from '../model/process-end.ts';
import type { StepResult } from '../model/run.ts';
import { describeLoss, type ProcessLoss } from './process-loss.ts';
import { clipReason } from '../checks/reasons.ts';

/** What a step came to. */
export interface StepOutcome {
  status: 'ok' | 'fail' | 'skipped';
  /** One sentence where it is not ok. */
  reason: string | null;
  /**
   * What follows: the next step, the end of the iteration, or its end without a result because nothing was established. After
   * `unmeasured` it has a result all the same where an earlier step has failed: what is decided stays decided.
   */
  effect: 'continue' | 'stop' | 'give-up' | 'unmeasured';
  /** Where it is given up because the process of the server ended. */
  loss?: ProcessLoss;
  /** What came back, as it came: the MCP result of a request, also where it is an error. Absent where nothing did. */
  result?: unknown;
  evidence?: NonNullable<StepResult['evidence']>;
}

export function describeNoAnswer(what: string, message: string): string {
  return clipReason(endSentence(`The server gave no answer to ${what}: ${message}`));
}

/** The iteration cannot go on; whether it failed depends on what else the process served. */
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
