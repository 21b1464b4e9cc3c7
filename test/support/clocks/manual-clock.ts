import type { Clock } from '../../../src/base/time.ts';

interface Sleeper {
  wakesAtMs: number;
  wake: () => void;
}

/** A clock that stops until it is advanced; sleepers wake in the order of their times. */
export class ManualClock implements Clock {
  #nowMs = 0;
  #sleepers: Sleeper[] = [];

  now(): number {
    return this.#nowMs;
  }

  monotonicMs(): number {
    return this.#nowMs;
  }

  sleep(delayMs: number, { signal }: { signal?: AbortSignal | undefined } = {}): Promise<void> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const sleeper = { wakesAtMs: this.#nowMs + delayMs, wake: resolve };
      this.#sleepers.push(sleeper);
      signal?.addEventListener('abort', () => {
        this.#sleepers = this.#sleepers.filter((other) => other !== sleeper);
        reject(signal.reason);
      });
    });
  }

  /** The number of current sleepers; 0 shows that nothing waits. */
  get sleeping(): number {
    return this.#sleepers.length;
  }

  async advance(durationMs: number): Promise<void> {
    const endMs = this.#nowMs + durationMs;
    for (;;) {
      // Code that is about to sleep, or was just woken, does so before the time advances.
      await new Promise((resolve) => setImmediate(resolve));
      const next = this.#sleepers.toSorted((a, b) => a.wakesAtMs - b.wakesAtMs)[0];
      if (next === undefined || next.wakesAtMs > endMs) break;
      this.#nowMs = next.wakesAtMs;
      this.#sleepers = this.#sleepers.filter((other) => other !== next);
      next.wake();
    }
    this.#nowMs = endMs;
  }
}
