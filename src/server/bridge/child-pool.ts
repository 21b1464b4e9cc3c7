import type { Logger } from '../../base/logger.ts';
import { ServerStartError } from '../../base/errors.ts';
import type { ProcessExit } from '../process.ts';
import type { Child, ProcessChild } from './child.ts';

/** Servers that may end by themselves before no more are started: a server that cannot stay up would restart for ever. */
const maxUnexpectedExits = 10;

/** Servers that may still be leaving while new ones start. A server that ignores the end of its stdin takes 2.5 s. */
const maxLeaving = 16;

/** Where sessions get their servers from. */
export interface ChildSource extends AsyncDisposable {
  /** @throws {ServerStartError} when servers have ended by themselves too often. */
  take(options: { signal: AbortSignal }): Promise<Child>;
}

export interface ChildPool extends AsyncDisposable {
  take(): Promise<ProcessChild>;
}

/** Gives every caller a process of its own, with `spares` started ahead to hide the time a start takes. */
export function createChildPool(options: {
  startChild: () => ProcessChild;
  spares: number;
  logger: Logger;
  /** Called when a server that somebody had taken ended by itself. */
  onLost: (exit: ProcessExit) => void;
}): ChildPool {
  const all = new Set<ProcessChild>();
  const idle: ProcessChild[] = [];
  let unexpectedExits = 0;
  let isDisposed = false;

  const start = (): ProcessChild => {
    const child = options.startChild();
    all.add(child);
    void watch(child);
    return child;
  };
  const watch = async (child: ProcessChild) => {
    const exit = await child.exited;
    if (!child.isEnding) {
      unexpectedExits += 1;
      const index = idle.indexOf(child);
      if (index === -1) options.onLost(exit);
      else idle.splice(index, 1);
      options.logger.debug(`A server ended by itself (${exit.code ?? exit.signal ?? 'not started'}).`);
      refill();
    }
    // What it started may live on.
    await child.stop();
    all.delete(child);
  };
  const refill = () => {
    if (isDisposed || unexpectedExits >= maxUnexpectedExits) return;
    while (idle.length < options.spares) idle.push(start());
  };
  const waitForLeaving = async () => {
    for (;;) {
      const leaving = [...all].filter((child) => child.isEnding && child.exit === null);
      if (leaving.length < maxLeaving) return;
      await Promise.race(leaving.map((child) => child.exited));
    }
  };

  refill();
  return {
    take: async () => {
      await waitForLeaving();
      if (isDisposed) throw new ServerStartError('The server under test is being stopped.');
      if (unexpectedExits >= maxUnexpectedExits) {
        throw new ServerStartError(
          `The server under test ended by itself ${unexpectedExits} times; no more are started.`,
        );
      }
      const child = idle.shift() ?? start();
      // After the caller's first message, so that a start does not compete with it.
      setImmediate(refill);
      return child;
    },
    [Symbol.asyncDispose]: async () => {
      isDisposed = true;
      // A spare has talked to nobody and has nothing to save.
      await Promise.all(idle.splice(0).map((child) => child.kill()));
      await Promise.all(Array.from(all, (child) => child.stop()));
    },
  };
}
