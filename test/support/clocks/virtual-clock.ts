import type { Clock } from '../../../src/base/time.ts';

/** A clock on which every sleep ends at once, although time passes. Records every sleep in order. */
export class VirtualClock implements Clock {
  readonly sleepsMs: number[] = [];
  #elapsedMs = 0;
  readonly #startedAtMs = Date.UTC(2026, 0, 1);

  now(): number {
    return this.#startedAtMs + this.#elapsedMs;
  }

  monotonicMs(): number {
    return this.#elapsedMs;
  }

  async sleep(delayMs: number, { signal }: { signal?: AbortSignal | undefined } = {}): Promise<void> {
    signal?.throwIfAborted();
    this.sleepsMs.push(delayMs);
    const wakesAtMs = this.#elapsedMs + delayMs;
    await new Promise((resolve) => setImmediate(resolve));
    signal?.throwIfAborted();
    // Sleepers that started together wake at their own times, not one after the other.
    this.#elapsedMs = Math.max(this.#elapsedMs, wakesAtMs);
  }

  /** Lets time pass without a sleep. */
  advance(durationMs: number): void {
    this.#elapsedMs += durationMs;
  }
}
