import {
  BudgetError,
  CancelledError,
  DeadlineError,
  describeError,
  FirstFailureError,
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

/** The longest time that collecting the results of a cancelled run may take. */
const collectingMs = 10_000;

/** Ends a gate early in two steps. */
export interface RunLifetime extends Disposable {
  /** Aborts with the reason when the run must stop: the run is cancelled, and its results so far are still collected. */
  readonly cancelRun: AbortSignal;
  /** Aborts when collecting must end too. */
  readonly abort: AbortSignal;
  /** The latest end of collecting: the gate waits for nothing after it. */
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
 * Explains why the gate could not judge, as a reason of the verdict. Only for faults of the surroundings: any error other than a `GateError`
 * is a bug and is thrown again, because a verdict would hide it.
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
  if (error instanceof FirstFailureError) return 'first-failure';
  if (error instanceof CancelledError) return 'cancelled';
  return 'infrastructure';
}

/**
 * Keeps what was started or created and must be undone. Its disposal undoes everything at the same time, because a cancelled job has only
 * seconds left. Warns about what cannot be undone, which never changes a verdict.
 */
export interface Teardown extends AsyncDisposable {
  /**
   * `what` completes the sentence "Could not …". The signal aborts when there is no more time for calls of a service; `isHurried` is true if
   * only seconds were available from the start.
   */
  add(what: string, undo: (signal: AbortSignal, isHurried: boolean) => Promise<void>): void;
}

/** Leaves the rest of the 7.5 s that GitHub's runner gives a cancelled job for stopping processes and reporting. */
const hurriedTimeoutMs = 2500;

/** Long enough for a service that answers the jobs of a whole matrix, one call per second. */
const longestTimeoutMs = 30_000;

/** Creates a teardown. It calls `readTimeLeftMs` when it begins; without that function it has only seconds. */
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
