import { ServerStartError } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import type { ProcessExit } from '../process.ts';
import type { SessionPlan } from '../running-server.ts';
import type { RequestMessage } from './bridge-messages.ts';
import type { Child, Opening, ProcessChild } from './child.ts';

/**
 * The most servers in a row that may end by themselves before their first answer; then no more are started. A server that answered and
 * crashed later does not count: the next session starts a new one, so that a crashing tool affects no other result.
 */
const maxFailedStarts = 10;

/**
 * The most warm processes that may end by themselves; then none is kept any more. Some servers end while they wait, or next to another
 * instance. Started on demand, they may work.
 */
const maxWarmExits = 3;

/** The most servers that may still be exiting while new ones start. A server that ignores the end of its stdin takes 2.5 s. */
const maxLeaving = 16;

/** Provides servers to sessions. */
export interface ChildSource {
  /**
   * `first` is the first request of the client, if it is known.
   *
   * @throws {ServerStartError} if too many servers in a row have ended before their first answer.
   */
  take(options: { signal: AbortSignal; first?: RequestMessage }): Promise<Child>;
}

export interface ChildPool extends AsyncDisposable {
  /**
   * `accepts` says if the caller can continue with a process that the gate has initialized. If not, that process ends before another one
   * starts.
   *
   * @throws {ServerStartError} if too many servers in a row have ended before their first answer.
   */
  take(options?: { accepts: (opening: Opening) => boolean }): Promise<ProcessChild>;
  /** Stops the servers in use, so that the next one is fresh. */
  renew(): Promise<void>;
  /** Replaces the plan. If the old or the new plan is exclusive, no process starts before all current ones have ended. */
  setPlan(plan: SessionPlan): void;
}

/** Reports events of servers in use. */
export interface PoolEvents {
  onTaken?(child: ProcessChild): void;
  /** A server ended by itself. `isLast`: no more are started. */
  onEnded(exit: ProcessExit, child: ProcessChild, isLast: boolean): void;
}

/**
 * Gives every caller a new process, and starts processes in advance to hide their start time: as many as the plan says, and fewer towards
 * the end if the plan has a count. With an exclusive plan, a process starts only once the previous one and all of its processes have
 * ended, since both may open the same file or database. The next one then starts at once, before a caller asks for it.
 */
export function createChildPool(options: {
  startChild: () => ProcessChild;
  /** A process that runs already, for the first caller. */
  first: ProcessChild | null;
  plan: SessionPlan;
  logger: Logger;
  events: PoolEvents;
}): ChildPool {
  /** Maps every process to a promise that resolves when it and all of its processes have ended. */
  const all = new Map<ProcessChild, Promise<void>>();
  const idle: ProcessChild[] = [];
  /** Processes of an earlier plan that must end before a new one starts. */
  let earlier: ProcessChild[] = [];
  let { plan } = options;
  let taken = 0;
  let failedStarts = 0;
  let warmExits = 0;
  let isDisposed = false;

  const add = (child: ProcessChild): ProcessChild => {
    all.set(child, watch(child));
    return child;
  };
  const start = () => add(options.startChild());
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
    // The processes that it started may still run.
    await child.stop();
    all.delete(child);
    if (plan.isExclusive || earlier.includes(child)) refill();
  };
  const refill = () => {
    if (isDisposed || failedStarts >= maxFailedStarts || warmExits >= maxWarmExits) return;
    const wanted = plan.count === null ? plan.warmProcesses : Math.min(plan.warmProcesses, plan.count - taken);
    while (idle.length < wanted && mayStart()) idle.push(start());
  };
  /** Ends an idle process that never had a client. Only one that was initialized may have something to save. */
  const leave = async (child: ProcessChild) => await (child.opening === null ? child.kill() : child.stop());
  const endUnaccepted = async (accepts: (opening: Opening) => boolean) => {
    const index = idle.findIndex(({ opening }) => opening !== null && !accepts(opening));
    if (index !== -1) await Promise.all(idle.splice(index, 1).map(leave));
  };
  const mustWait = () => !mayStart() && !idle.some((child) => !child.hasEnded);
  const waitForLeaving = async () => {
    for (;;) {
      const leaving = [...all.keys()].filter((child) => child.isEnding && child.exit === null);
      if (leaving.length < maxLeaving) return;
      await Promise.race(leaving.map((child) => child.exited));
    }
  };

  if (options.first !== null) idle.push(add(options.first));
  refill();
  return {
    take: async ({ accepts } = { accepts: () => false }) => {
      await endUnaccepted(accepts);
      await waitForLeaving();
      // There is no await between this check and the start, so that only one of several callers gets the process.
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
      // Refills after the caller's first message, so that a start does not compete with it.
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
        for (const child of idle.splice(0)) void leave(child);
        earlier = [...all.keys()];
      }
      refill();
    },
    [Symbol.asyncDispose]: async () => {
      isDisposed = true;
      await Promise.all(idle.splice(0).map(leave));
      await Promise.all(Array.from(all.keys(), (child) => child.stop()));
    },
  };
}
