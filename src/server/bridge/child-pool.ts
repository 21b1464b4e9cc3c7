import type { Logger } from '../../base/logger.ts';
import { ServerStartError } from '../../base/errors.ts';
import type { ProcessExit } from '../process.ts';
import type { Child, ProcessChild } from './child.ts';

/**
 * Servers in a row that may end by themselves before their first answer; then no more are started. One that answered and crashed
 * later does not count: the next session starts another, so that a tool that crashes takes no other result with it.
 */
const maxFailedStarts = 10;

/**
 * Spares that may end by themselves before none is kept any more. Some servers do not stand waiting, or not beside another of
 * their kind; started when they are needed they may well work.
 */
const maxSpareExits = 3;

/** Servers that may still be leaving while new ones start. A server that ignores the end of its stdin takes 2.5 s. */
const maxLeaving = 16;

/** Where sessions get their servers from. */
export interface ChildSource extends AsyncDisposable {
  /** @throws {ServerStartError} when too many servers in a row have ended before their first answer. */
  take(options: { signal: AbortSignal }): Promise<Child>;
}

export interface ChildPool extends AsyncDisposable {
  take(): Promise<ProcessChild>;
  /** Stops the servers that were taken, so that the next one is fresh. */
  renew(): Promise<void>;
}

/** What a pool tells of servers that were taken. */
export interface PoolEvents {
  onTaken?(child: ProcessChild): void;
  /** A server ended by itself. `isLast`: no more are started. */
  onEnded(exit: ProcessExit, child: ProcessChild, isLast: boolean): void;
}

/**
 * Gives every caller a process of its own, with `spares` started ahead to hide the time a start takes: fewer towards the end
 * where it is known how many will be `wanted`.
 */
export function createChildPool(options: {
  startChild: () => ProcessChild;
  spares: number;
  /** How many will be taken in all; null where nobody knows. One more than that is started when it is asked for. */
  wanted: number | null;
  logger: Logger;
  events: PoolEvents;
}): ChildPool {
  const all = new Set<ProcessChild>();
  const idle: ProcessChild[] = [];
  let taken = 0;
  let failedStarts = 0;
  let spareExits = 0;
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
      const index = idle.indexOf(child);
      if (index === -1) {
        failedStarts = child.hasAnswered ? 0 : failedStarts + 1;
        options.events.onEnded(exit, child, failedStarts >= maxFailedStarts);
      } else {
        spareExits += 1;
        idle.splice(index, 1);
      }
      options.logger.debug(
        `A ${index === -1 ? 'server in use' : 'spare server'} ended by itself (${exit.code ?? exit.signal ?? 'not started'}).`,
      );
      refill();
    }
    // What it started may live on.
    await child.stop();
    all.delete(child);
  };
  const refill = () => {
    if (isDisposed || failedStarts >= maxFailedStarts || spareExits >= maxSpareExits) return;
    const spares = options.wanted === null ? options.spares : Math.min(options.spares, options.wanted - taken);
    while (idle.length < spares) idle.push(start());
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
      if (failedStarts >= maxFailedStarts) {
        throw new ServerStartError(
          `The server under test ended ${failedStarts} times in a row before its first answer; no more are started.`,
        );
      }
      taken += 1;
      const spare = idle.findIndex((child) => !child.hasEnded);
      const [child = start()] = spare === -1 ? [] : idle.splice(spare, 1);
      // After the caller's first message, so that a start does not compete with it.
      setImmediate(refill);
      options.events.onTaken?.(child);
      return child;
    },
    renew: async () => {
      const taken = [...all].filter((child) => !idle.includes(child));
      await Promise.all(taken.map((child) => child.stop()));
    },
    [Symbol.asyncDispose]: async () => {
      isDisposed = true;
      // A spare has talked to nobody and has nothing to save.
      await Promise.all(idle.splice(0).map((child) => child.kill()));
      await Promise.all(Array.from(all, (child) => child.stop()));
    },
  };
}
