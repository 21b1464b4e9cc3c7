import type { Logger } from '../../base/logger.ts';
import { ServerStartError } from '../../base/errors.ts';
import type { ProcessExit } from '../process.ts';
import type { SessionPlan } from '../running-server.ts';
import type { Child, ProcessChild } from './child.ts';

/**
 * Servers in a row that may end by themselves before their first answer; then no more are started. One that answered and crashed
 * later does not count: the next session starts another, so that a tool that crashes takes no other result with it.
 */
const maxFailedStarts = 10;

/**
 * Warm processes that may end by themselves before none is kept any more. Some servers do not stand waiting, or not next to another of
 * their kind; started when they are needed they may well work.
 */
const maxWarmExits = 3;

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
  /** Replaces the plan. Where the old or the new one is exclusive, no process starts before all present ones have ended. */
  setPlan(plan: SessionPlan): void;
}

/** What a pool reports about servers that were taken. */
export interface PoolEvents {
  onTaken?(child: ProcessChild): void;
  /** A server ended by itself. `isLast`: no more are started. */
  onEnded(exit: ProcessExit, child: ProcessChild, isLast: boolean): void;
}

/**
 * Gives every caller a process of its own, and starts processes ahead of their callers to hide the time that a start takes:
 * as many as the plan says, and fewer towards the end where it is known how many will be wanted. With an exclusive plan, a
 * process starts only once the one before it has ended together with all that it had started, since both may open the same
 * file or database; the next one then starts at once, before it is asked for.
 */
export function createChildPool(options: {
  startChild: () => ProcessChild;
  plan: SessionPlan;
  logger: Logger;
  events: PoolEvents;
}): ChildPool {
  /** Every process, and when it is gone with all that it had started. */
  const all = new Map<ProcessChild, Promise<void>>();
  const idle: ProcessChild[] = [];
  /** Processes of an earlier plan that have to be gone before another one starts. */
  let earlier: ProcessChild[] = [];
  let { plan } = options;
  let taken = 0;
  let failedStarts = 0;
  let warmExits = 0;
  let isDisposed = false;

  const start = (): ProcessChild => {
    const child = options.startChild();
    all.set(child, watch(child));
    return child;
  };
  const mayStart = () => (plan.isExclusive ? all.size === 0 : !earlier.some((child) => all.has(child)));
  const watch = async (child: ProcessChild) => {
    const exit = await child.exited;
    if (!child.isEnding) {
      const index = idle.indexOf(child);
      if (index === -1) {
        failedStarts = child.hasAnswered ? 0 : failedStarts + 1;
        options.events.onEnded(exit, child, failedStarts >= maxFailedStarts);
      } else {
        warmExits += 1;
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
    if (plan.isExclusive || earlier.includes(child)) refill();
  };
  const refill = () => {
    if (isDisposed || failedStarts >= maxFailedStarts || warmExits >= maxWarmExits) return;
    const wanted = plan.count === null ? plan.warmProcesses : Math.min(plan.warmProcesses, plan.count - taken);
    while (idle.length < wanted && mayStart()) idle.push(start());
  };
  const mustWait = () => !mayStart() && !idle.some((child) => !child.hasEnded);
  const waitForLeaving = async () => {
    for (;;) {
      const leaving = [...all.keys()].filter((child) => child.isEnding && child.exit === null);
      if (leaving.length < maxLeaving) return;
      await Promise.race(leaving.map((child) => child.exited));
    }
  };

  refill();
  return {
    take: async () => {
      await waitForLeaving();
      // Nothing is awaited between the last look and the start, so that of several callers one gets the process.
      while (mustWait()) await Promise.race(all.values());
      if (isDisposed) throw new ServerStartError('The server under test is being stopped.');
      if (failedStarts >= maxFailedStarts) {
        throw new ServerStartError(
          `The server under test ended ${failedStarts} times in a row before its first answer; no more are started.`,
        );
      }
      taken += 1;
      const warm = idle.findIndex((child) => !child.hasEnded);
      const [child = start()] = warm === -1 ? [] : idle.splice(warm, 1);
      // After the caller's first message, so that a start does not compete with it.
      setImmediate(refill);
      options.events.onTaken?.(child);
      return child;
    },
    renew: async () => {
      const taken = [...all.keys()].filter((child) => !idle.includes(child));
      await Promise.all(taken.map((child) => child.stop()));
    },
    setPlan: (next) => {
      const isExclusive = plan.isExclusive || next.isExclusive;
      plan = next;
      taken = 0;
      if (isExclusive) {
        for (const child of idle.splice(0)) void child.kill();
        earlier = [...all.keys()];
      }
      refill();
    },
    [Symbol.asyncDispose]: async () => {
      isDisposed = true;
      // A warm process has had no client and has nothing to save.
      await Promise.all(idle.splice(0).map((child) => child.kill()));
      await Promise.all(Array.from(all.keys(), (child) => child.stop()));
    },
  };
}
