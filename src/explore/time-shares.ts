import type { Clock } from '../base/time.ts';

/** The time of an exploration, which its parts share. */
export interface TimeShares {
  /** Begins a part that ends at this share of the whole time, from 0 to 1. Time that earlier parts did not use is part of it. */
  begin(untilShare: number): void;
  /** Checks if the time of the present part is over. Called before each piece of work, because a part that is over is cut. */
  isOver(): boolean;
  /** True if any part was cut. */
  readonly isCut: boolean;
}

/** Starts the time. */
export function shareTime(clock: Clock, limitMs: number): TimeShares {
  const startedMs = clock.monotonicMs();
  let endsAtMs = startedMs + limitMs;
  let isOver = false;
  let isCut = false;
  return {
    begin: (untilShare) => {
      endsAtMs = startedMs + untilShare * limitMs;
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
  };
}
