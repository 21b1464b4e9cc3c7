/** Limits of one request, one case and one service. */
export interface ServiceLimits {
  iterationsPerCase: number;
  testsPerRequest: number;
  stepsPerCase: number;
  /** Characters of the arguments of one tool call, as JSON. */
  argumentCharacters: number;
  /** Iterations × prompt steps of one run. */
  llmCallsPerRun: number;
  /** Runs in progress at the same time. Another run is refused with `CONCURRENT_RUN_LIMIT`. */
  concurrentRuns: number;
  maxBodyBytes: number;
  /** Projects of one organization. Another project is refused. */
  maxProjects: number;
}

/** The limits of the hosted service, so that whatever works here works there too. */
export const contractLimits: ServiceLimits = {
  iterationsPerCase: 10,
  testsPerRequest: 100,
  stepsPerCase: 200,
  argumentCharacters: 100_000,
  llmCallsPerRun: 300,
  concurrentRuns: 2,
  maxBodyBytes: 6 * 1024 * 1024,
  // Unlimited here; on the hosted service it depends on the plan.
  maxProjects: Number.POSITIVE_INFINITY,
};
