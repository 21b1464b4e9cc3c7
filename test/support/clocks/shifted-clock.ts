import { ManualClock } from './manual-clock.ts';

/** A clock that stops until it is advanced, and whose wall time can be set like that of a machine. */
export class ShiftedClock extends ManualClock {
  #shiftMs = 0;

  override now(): number {
    return super.now() + this.#shiftMs;
  }

  /** Moves the wall time forward, or back by a negative number. Sleepers are not affected. */
  shift(byMs: number): void {
    this.#shiftMs += byMs;
  }
}
