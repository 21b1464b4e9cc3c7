import type { ServiceLimits } from '../../../src/service/api-limits.ts';

/** The limits of the hosted service on one iteration and one run. */
export const defaultIterationTimeoutMs = 10 * 60_000;
export const defaultRunTimeoutMs = 20 * 60_000;

/** The limits that a service sets for itself. Those of one request and one case are in the descriptions of the operations. */
export type ServedLimits = Pick<ServiceLimits, 'llmCallsPerRun' | 'concurrentRuns' | 'maxBodyBytes' | 'maxProjects'>;
