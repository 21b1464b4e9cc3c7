/** The limits of the hosted service on one iteration and one run. */
export const defaultIterationTimeoutMs = 10 * 60_000;
export const defaultRunTimeoutMs = 20 * 60_000;
