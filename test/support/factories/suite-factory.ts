import type { Iteration } from '../../../src/model/run.ts';
import { defaultMatchOptions } from '../../../src/cases/case.ts';
import { emptyPolicyLayer } from '../../../src/model/policy.ts';
import type { ModelSettings, Suite, SuiteCase } from '../../../src/cases/suite.ts';

const location = { file: 'evals/math.evals.yaml', line: 7, column: 5 };

/** Model settings if neither the case nor the suite sets any. */
export const noModelSettings: ModelSettings = {
  hosts: [],
  hostProgram: null,
  system: null,
  temperature: null,
  maxSteps: null,
  maxResultTokens: null,
  parameters: {},
  timeoutMs: null,
  toolPolicy: null,
  decoys: [],
  decoyFile: null,
  ownSetting: null,
};

/** A loaded case of one iteration that calls `add`, by default. */
export function createSuiteCase(overrides: Partial<SuiteCase> = {}): SuiteCase {
  return {
    id: 'adds',
    title: 'Adds two numbers',
    location,
    text: 'title: Adds two numbers',
    tags: [],
    isRequired: false,
    isNegative: false,
    runs: 1,
    timeoutMs: 60_000,
    timeoutLocation: null,
    model: null,
    variantOf: [],
    protocol: null,
    recordingId: overrides.id ?? 'adds',
    placeholders: null,
    modelSettings: noModelSettings,
    client: null,
    failOnToolError: true,
    expectedOutput: null,
    scenario: null,
    match: defaultMatchOptions,
    checks: { mode: 'inherit', list: [] },
    setup: [],
    teardown: [],
    steps: [],
    judges: [],
    ...overrides,
  };
}

export function createSuite(cases: SuiteCase[] = [createSuiteCase()]): Suite {
  return {
    id: 'math',
    name: 'Math server',
    location: { ...location, line: 1 },
    model: null,
    recordings: { ignore: [], reuse: null },
    protocol: null,
    concurrency: null,
    isIndependent: false,
    workspace: null,
    upstream: null,
    match: defaultMatchOptions,
    checks: [],
    policy: emptyPolicyLayer,
    cases,
  };
}

/** A passed iteration of the service's case `svc_adds`, by default. */
export function createIteration(overrides: Partial<Iteration> = {}): Iteration {
  return {
    id: 'it_1',
    testCaseId: 'svc_adds',
    title: 'Adds two numbers',
    iterationNumber: 1,
    status: 'completed',
    result: 'passed',
    startedAtMs: null,
    durationMs: 100,
    error: null,
    model: null,
    tokensUsed: null,
    usage: null,
    judges: [],
    actualToolCalls: [],
    expectedToolCalls: [],
    ...overrides,
  };
}
