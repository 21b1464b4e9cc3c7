import type { Clock } from '../../base/time.ts';
import { type Deadline, formatDuration, startDeadline } from '../../base/time.ts';
import { CancelledError, DeadlineError, GateError } from '../../base/errors.ts';

/** How long reading what a run left behind may still take once the run has been cancelled. */
const collectingMs = 10_000;

/**
 * The two ways a gate ends early. `callOff` aborts when the run must not go on (its reason says why): the run is
 * cancelled, and what it has produced is still collected. `stop` aborts when collecting must end too.
 */
export interface Watch extends Disposable {
  readonly callOff: AbortSignal;
  readonly stop: AbortSignal;
  /** When collecting ends at the latest: nothing may be waited for that comes after it. */
  readonly deadline: Deadline;
  /** Calls the run off when this promise resolves to a reason. It must never reject. */
  addReason(reason: Promise<GateError>): void;
}

/** Starts the clock of the gate. The caller's own signal stops everything at once. */
export function startWatch(clock: Clock, options: { timeoutMs: number; signal: AbortSignal }): Watch {
  const calledOff = new AbortController();
  const stopped = new AbortController();
  const disposed = new AbortController();

  const outlasts = (delayMs: number): Promise<boolean> =>
    clock.sleep(delayMs, { signal: disposed.signal }).then(
      () => true,
      () => false,
    );
  const callOff = async (reason: unknown) => {
    if (calledOff.signal.aborted || disposed.signal.aborted) return;
    calledOff.abort(reason);
    if (await outlasts(collectingMs)) stopped.abort(reason);
  };
  const expire = async () => {
    if (!(await outlasts(options.timeoutMs))) return;
    const message = `The gate was not over after ${formatDuration(options.timeoutMs)}.`;
    await callOff(new DeadlineError(message, { hint: 'Raise `timeout`, or run fewer cases.' }));
  };
  const obeyCaller = () => {
    const { reason } = options.signal;
    const cancelled =
      reason instanceof GateError ? reason : new CancelledError('The caller stopped the gate.', { cause: reason });
    calledOff.abort(cancelled);
    stopped.abort(cancelled);
  };

  if (options.signal.aborted) obeyCaller();
  options.signal.addEventListener('abort', obeyCaller, { once: true });
  void expire();

  return {
    callOff: calledOff.signal,
    stop: stopped.signal,
    deadline: startDeadline(clock, options.timeoutMs + collectingMs, 'The gate'),
    addReason: (reason) => void reason.then(callOff),
    [Symbol.dispose]: () => {
      options.signal.removeEventListener('abort', obeyCaller);
      disposed.abort();
    },
  };
}
