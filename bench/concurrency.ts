/** The number of simultaneous calls, for the gate and for the SDK as its yardstick. */
export const concurrency = 4;
