import {
  BudgetError,
  CancelledError,
  DeadlineError,
  describeError,
  GateError,
  SandboxError,
  ServerStartError,
  TunnelError,
} from '../../base/errors.ts';
import { endSentence } from '../../base/text.ts';
import type { VerdictReason } from '../../model/verdict.ts';
import { keepLastLines } from '../../server/output-tail.ts';

/**
 * Says why the gate could not judge, as a reason of the verdict. Only for faults of the surroundings: anything that is
 * not a `GateError` is a bug, which is thrown on, because a verdict over it would hide it.
 */
export function explainInterruption(error: unknown): VerdictReason {
  if (!(error instanceof GateError) || error.exitCode === 2) throw error;
  const what = endSentence(describeError(error));
  const output = error instanceof ServerStartError ? keepLastLines(error.stderrTail) : [];
  return {
    code: readCode(error),
    message: error.hint === undefined ? what : `${what} ${error.hint}`,
    ...(output.length === 0 ? {} : { output }),
  };
}

function readCode(error: GateError): VerdictReason['code'] {
  if (error instanceof ServerStartError) return 'server-lost';
  if (error instanceof SandboxError) return 'sandbox-unavailable';
  if (error instanceof TunnelError) return 'tunnel-lost';
  if (error instanceof DeadlineError) return 'deadline';
  if (error instanceof BudgetError) return 'budget-exceeded';
  if (error instanceof CancelledError) return 'cancelled';
  return 'infrastructure';
}
