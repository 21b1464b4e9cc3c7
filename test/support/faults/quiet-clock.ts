import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../../src/base/time.ts';

interface Sleeper {
  wakesAtMs: number;
  wake: () => void;
}

/** The number of turns of the event loop without I/O after which nothing in this process is pending. */
const quietTurns = 12;

/** Resources that are active outside the event loop, on a thread of libuv or in the kernel. */
const pending = /ReqWrap|ConnectWrap|FSReq|Zlib|Job|RandomBytes/;

/**
 * A clock for a whole world of clients, servers and sockets in one process. It stops while anything happens, and jumps to the next sleeper
 * when nothing does. Data over loopback within a process arrives within a few turns of its event loop, so a quiet loop means that all code
 * waits for time to pass.
 */
export class QuietClock implements Clock, Disposable {
  #elapsedMs = 0;
  #offsetMs = 0;
  #sleepers: Sleeper[] = [];
  #isDriving = false;
  readonly #held = new Set<Promise<unknown>>();

  /** A test may set the wall clock; the monotonic clock does not notice. */
  now(): number {
    return Date.UTC(2026, 0, 1) + this.#elapsedMs + this.#offsetMs;
  }

  monotonicMs(): number {
    return this.#elapsedMs;
  }

  sleep(delayMs: number, { signal }: { signal?: AbortSignal | undefined } = {}): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const stop = () => {
        this.#sleepers = this.#sleepers.filter((other) => other !== sleeper);
        reject(signal?.reason);
      };
      const wake = () => {
        signal?.removeEventListener('abort', stop);
        resolve();
      };
      const sleeper = { wakesAtMs: this.#elapsedMs + Math.max(0, delayMs), wake };
      this.#sleepers.push(sleeper);
      signal?.addEventListener('abort', stop, { once: true });
      if (!this.#isDriving) void this.#drive();
    });
  }

  /** Sets the wall clock forward or back. */
  setWall(offsetMs: number): void {
    this.#offsetMs = offsetMs;
  }

  /** Stops time while the test waits for something outside this process. */
  async standStill<T>(work: Promise<T>): Promise<T> {
    this.#held.add(work);
    try {
      return await work;
    } finally {
      this.#held.delete(work);
    }
  }

  /** Leaves the remaining sleepers asleep. */
  [Symbol.dispose](): void {
    this.#sleepers = [];
  }

  async #drive(): Promise<void> {
    this.#isDriving = true;
    while (this.#sleepers.length > 0) {
      if (!(await this.#waitForQuiet())) continue;
      const next = this.#sleepers.reduce<Sleeper | undefined>(
        (first, other) => (first === undefined || other.wakesAtMs < first.wakesAtMs ? other : first),
        undefined,
      );
      if (next === undefined) break;
      this.#sleepers = this.#sleepers.filter((other) => other !== next);
      this.#elapsedMs = Math.max(this.#elapsedMs, next.wakesAtMs);
      next.wake();
    }
    this.#isDriving = false;
  }

  /** Returns true once the loop is quiet; false as soon as there are no sleepers to wake. */
  async #waitForQuiet(): Promise<boolean> {
    let events = countEvents();
    for (let turns = 0; turns < quietTurns;) {
      await new Promise((resolve) => setImmediate(resolve));
      if (this.#sleepers.length === 0) return false;
      const counted = countEvents();
      turns = counted === events ? turns + 1 : 0;
      events = counted;
      if (turns === quietTurns && (await this.#waitOutsideLoop())) turns = 0;
    }
    return true;
  }

  /** Waits for activity outside the loop, because a turning loop would use its processor time; false if there is none. */
  async #waitOutsideLoop(): Promise<boolean> {
    if (this.#held.size > 0) await Promise.allSettled(this.#held);
    else if (process.getActiveResourcesInfo().some((name) => pending.test(name))) await sleep(1);
    else return false;
    return true;
  }
}

/** Counts the events that the loop has received from the kernel so far. */
function countEvents(): number {
  return performance.nodeTiming.uvMetricsInfo.events;
}
