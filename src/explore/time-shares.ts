import type { Clock } from '../base/time.ts';

/** The time of an exploration, which its parts share. */
export interface TimeShares {
  /** Counts the shares over the time that is left: what has passed so far belongs to none of the parts. */
  restart(): void;
  /** Begins a part that ends at this share of the whole time, from 0 to 1. Time that earlier parts did not use is part of it. */
  begin(untilShare: number): void;
  /** Checks if the time of the present part is over. Called before each piece of work, because a part that is over is cut. */
  isOver(): boolean;
  /** True if any part was cut. */
  readonly isCut: boolean;
  /** Returns the time up to this share of the whole, for a work that shares it among its own parts. */
  limitTo(share: number): TimeShares;
}

/** Starts the time. */
export function shareTime(clock: Clock, limitMs: number): TimeShares {
  let startedMs = clock.monotonicMs();
  let leftMs = limitMs;
  let endsAtMs = startedMs + limitMs;
  let isOver = false;
  let isCut = false;
  const create = (whole: number): TimeShares => ({
    restart: () => {
      const nowMs = clock.monotonicMs();
      leftMs = Math.max(0, startedMs + leftMs - nowMs);
      startedMs = nowMs;
    },
    begin: (untilShare) => {
      endsAtMs = startedMs + untilShare * whole * leftMs;
      isOver = false;
    },
    isOver: () => {
      isOver ||= clock.monotonicMs() > endsAtMs;
      isCut ||= isOver;
      return isOver;
    },
    get isCut() {
      return isCut;
    },
    limitTo: (share) => create(share * whole),
  });
  return create(1);
}
