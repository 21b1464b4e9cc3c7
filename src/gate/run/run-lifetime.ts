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
import type { Logger } from '../../base/logger.ts';
import { endSentence } from '../../base/text.ts';
import { type Clock, type Deadline, formatDuration, startDeadline, startTimeLimit } from '../../base/time.ts';
import type { VerdictReason } from '../../model/verdict.ts';
import { keepLastLines } from '../../server/output-tail.ts';

/** How long reading what a run left behind may still take once the run has been cancelled. */
const collectingMs = 10_000;

/** The two ways a gate ends early. */
export interface RunLifetime extends Disposable {
  /** Aborts when the run must not go on, with the reason: the run is cancelled, and what it has produced is still collected. */
  readonly cancelRun: AbortSignal;
  /** Aborts when collecting must end too. */
  readonly abort: AbortSignal;
  /** When collecting ends at the latest: nothing may be waited for that comes after it. */
  readonly deadline: Deadline;
  /** Cancels the run when this promise resolves to a reason. It must never reject. */
  cancelOn(reason: Promise<GateError>): void;
}

/** Starts the time of the gate. The caller's own signal ends everything at once. */
export function startRunLifetime(clock: Clock, options: { timeoutMs: number; signal: AbortSignal }): RunLifetime {
  const cancelled = new AbortController();
  const aborted = new AbortController();
  const disposed = new AbortController();

  const outlasts = (delayMs: number): Promise<boolean> =>
    clock.sleep(delayMs, { signal: disposed.signal }).then(
      () => true,
      () => false,
    );
  const cancel = async (reason: unknown) => {
    if (cancelled.signal.aborted || disposed.signal.aborted) return;
    cancelled.abort(reason);
    if (await outlasts(collectingMs)) aborted.abort(reason);
  };
  const expire = async () => {
    if (!(await outlasts(options.timeoutMs))) return;
    const message = `The gate was not over after ${formatDuration(options.timeoutMs)}.`;
    await cancel(new DeadlineError(message, { hint: 'Raise `timeout`, or run fewer cases.' }));
  };
  const obeyCaller = () => {
    const { reason } = options.signal;
    const error =
      reason instanceof GateError ? reason : new CancelledError('The caller stopped the gate.', { cause: reason });
    cancelled.abort(error);
    aborted.abort(error);
  };

  if (options.signal.aborted) obeyCaller();
  options.signal.addEventListener('abort', obeyCaller, { once: true });
  void expire();

  return {
    cancelRun: cancelled.signal,
    abort: aborted.signal,
    deadline: startDeadline(clock, options.timeoutMs + collectingMs, 'The gate'),
    cancelOn: (reason) => void reason.then(cancel),
    [Symbol.dispose]: () => {
      options.signal.removeEventListener('abort', obeyCaller);
      disposed.abort();
    },
  };
}

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

/**
 * Keeps what was started or created and must be undone. Disposing undoes all of it at the same time, because a job that is
 * cancelled has only seconds left; what cannot be undone is warned about and never changes a verdict.
 */
export interface Teardown extends AsyncDisposable {
  /**
   * `what` completes the sentence "Could not …". The signal aborts when there is no more time for calls of a service;
   * `isHurried` says that there are only seconds from the start.
   */
  add(what: string, undo: (signal: AbortSignal, isHurried: boolean) => Promise<void>): void;
}

/** What is left of the 7.5 s that GitHub's runner gives a cancelled job must do for stopping processes and reporting. */
const hurriedTimeoutMs = 2500;

/** Enough for a service that answers the jobs of a whole matrix, one call a second. */
const longestTimeoutMs = 30_000;

/** `readTimeLeftMs` is asked when the teardown begins; without it there are seconds only. */
export function createTeardown(
  { clock, logger }: { clock: Clock; logger: Logger },
  readTimeLeftMs: () => number = () => 0,
): Teardown {
  const parts: Array<{ what: string; undo: Parameters<Teardown['add']>[1] }> = [];
  return {
    add: (what, undo) => void parts.push({ what, undo }),
    [Symbol.asyncDispose]: async () => {
      const timeLeftMs = Math.min(Math.max(readTimeLeftMs(), hurriedTimeoutMs), longestTimeoutMs);
      const isHurried = timeLeftMs === hurriedTimeoutMs;
      using limit = startTimeLimit(clock, { afterMs: timeLeftMs, what: 'The teardown' });
      const { signal } = limit;
      await Promise.all(
        parts.map(({ what, undo }) =>
          undo(signal, isHurried).catch((error: unknown) => {
            const why = signal.aborted ? 'there was no time left' : describeError(error);
            logger.warning(`Could not ${what}: ${why}. The verdict stands.`);
          }),
        ),
      );
    },
  };
}
