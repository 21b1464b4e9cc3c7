import { setFlagsFromString } from 'node:v8';
import { CancelledError } from '../base/errors.ts';

type StopSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP' | 'SIGQUIT';

/** The part of the process that delivers signals; passed in, since only the entries may touch the process. */
export interface SignalSource {
  on(event: StopSignal, listener: (signal: StopSignal) => void): unknown;
}

/**
 * Turns the first signal that asks the process to stop into an abort with a `CancelledError`, so that everything started is stopped in
 * order. Any further signal calls `exitNow`: a user who asks twice wants an immediate end. It never stops listening: without a listener, a
 * signal in the last moments would replace the process's exit code.
 */
export function listenForInterrupts(source: SignalSource, exitNow: (exitCode: number) => void): AbortSignal {
  const controller = new AbortController();
  const listener = (name: StopSignal) => {
    const error = new CancelledError(`Stopped by ${name}.`, { signal: name });
    if (controller.signal.aborted) exitNow(error.exitCode);
    else controller.abort(error);
  };
  // A closed terminal and Ctrl+\ must leave no server running, either.
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const) source.on(name, listener);
  return controller.signal;
}

/**
 * Makes V8 collect garbage sooner. Only the entries call it, since it holds for the whole process. An iteration leaves half a megabyte of
 * garbage and no live objects; V8 would then grow to several times of the memory in use, on a machine that is shared with the server under
 * test. V8 reads both flags at each collection, so they may be set while running, and a V8 that does not know them ignores them.
 */
export function limitHeapGrowth(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString('--heap-growing-percent=100');
}
