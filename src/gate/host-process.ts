import { setFlagsFromString } from 'node:v8';
import { CancelledError } from '../base/errors.ts';

type StopSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP' | 'SIGQUIT';

/** The part of the process that delivers signals; passed in, since only the entries may touch the process. */
export interface SignalSource {
  on(event: StopSignal, listener: (signal: StopSignal) => void): unknown;
}

/**
 * Turns the first signal that asks the process to stop into an abort with a `CancelledError`, so that everything started is stopped in
 * order, and any further one into `exitNow`: who asks twice means now. It never stops listening: without a listener, a
 * signal in the last moments would end the process instead of its exit code.
 */
export function listenForInterrupts(source: SignalSource, exitNow: (exitCode: number) => void): AbortSignal {
  const controller = new AbortController();
  const listener = (name: StopSignal) => {
    const error = new CancelledError(`Stopped by ${name}.`, { signal: name });
    if (controller.signal.aborted) exitNow(error.exitCode);
    else controller.abort(error);
  };
  // A closed terminal and Ctrl+\ leave no server running, either.
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const) source.on(name, listener);
  return controller.signal;
}

/**
 * Makes V8 collect garbage sooner than it would. For the entries only, since it holds for the whole process: an iteration
 * leaves half a megabyte of garbage behind and nothing that lives, which V8 takes as leave to grow to several times of
 * what is in use, on a machine that the server under test has to share. Both are heuristics read at each collection, so
 * they may be set while running, and a V8 that does not know them goes on without.
 */
export function limitHeapGrowth(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString('--heap-growing-percent=100');
}
