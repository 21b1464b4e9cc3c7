/** Calls at the same time, by the gate and by the SDK that it is measured against. */
export const concurrency = 4;
