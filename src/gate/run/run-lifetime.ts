import { type Clock, type Deadline, formatDuration, startDeadline } from '../../base/time.ts';
import { CancelledError, DeadlineError, GateError } from '../../base/errors.ts';

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
