import type { ServiceLimits } from '../limits.ts';
import { createCaseSchemas, createTestSchemas } from './case.ts';
import { createRunSchema } from './run.ts';
import { createSuiteSchemas } from './suite.ts';

/** The strict bodies whose bounds depend on the service's limits. */
export function createBodySchemas(limits: ServiceLimits) {
  const tests = createTestSchemas(limits);
  return {
    cases: createCaseSchemas(limits),
    suites: createSuiteSchemas(limits, tests),
    run: createRunSchema(limits, tests),
  };
}

export type BodySchemas = ReturnType<typeof createBodySchemas>;
