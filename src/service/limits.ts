/** How much one request, one case and one service may ask for. */
export interface ServiceLimits {
  iterationsPerCase: number;
  testsPerRequest: number;
  stepsPerCase: number;
  /** Characters of one tool call's arguments, serialised. */
  argumentCharacters: number;
  /** Iterations × prompt steps of one run. */
  llmCallsPerRun: number;
  /** Runs executing at once; one more is refused with `CONCURRENT_RUN_LIMIT`. */
  concurrentRuns: number;
  maxBodyBytes: number;
  /** Of one organization; one more is refused. */
  maxProjects: number;
}

/** What the hosted service allows, so that whatever works here works there. */
export const contractLimits: ServiceLimits = {
  iterationsPerCase: 10,
  testsPerRequest: 100,
  stepsPerCase: 200,
  argumentCharacters: 100_000,
  llmCallsPerRun: 300,
  concurrentRuns: 2,
  maxBodyBytes: 6 * 1024 * 1024,
  // A matter of the plan there.
  maxProjects: Number.POSITIVE_INFINITY,
};
