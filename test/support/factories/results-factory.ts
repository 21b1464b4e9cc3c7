import type { IterationFailure } from '../../../src/model/case-report.ts';
import type { CaseResults, SuiteResults } from '../../../src/model/results.ts';
import type { Run } from '../../../src/model/run.ts';

/** A case of three passed iterations by default; `planned` follows the counts. */
export function createCaseResults(overrides: Partial<CaseResults> = {}): CaseResults {
  const { passed = 3, failed = 0, unscored = 0 } = overrides;
  return {
    id: 'adds',
    title: 'Adds two numbers',
    tags: [],
    isRequired: false,
    location: { file: 'evals/math.evals.yaml', line: 7, column: 5 },
    definitionHash: '5f2c1b0a9d8e7f60',
    planned: passed + failed + unscored,
    passed,
    failed,
    unscored,
    durationsMs: [],
    tokensUsed: 0,
    model: null,
    usage: null,
    judges: [],
    replayed: { passed: 0, total: 0 },
    failures: [],
    retries: [],
    ...overrides,
  };
}

/** By default, a suite that was read completely, with a completed run that agrees with its cases. */
export function createSuiteResults(overrides: Partial<SuiteResults> = {}): SuiteResults {
  const cases = overrides.cases ?? [createCaseResults()];
  const sum = (key: 'passed' | 'failed' | 'unscored') => cases.reduce((total, member) => total + member[key], 0);
  const iterationsRead = sum('passed') + sum('failed') + sum('unscored') + (overrides.unknownIterations ?? 0);
  return {
    suiteId: 'math',
    name: 'Math server',
    file: 'evals/math.evals.yaml',
    run: createRun({ summary: { total: iterationsRead, passed: sum('passed'), failed: sum('failed') } }),
    runUrl: null,
    cases,
    leftOut: [],
    isComplete: true,
    iterationsRead,
    unknownIterations: 0,
    overruled: 0,
    contradicted: 0,
    tunnelBreaks: 0,
    interruption: null,
    retries: [],
    isStoppedEarly: false,
    concurrency: null,
    ...overrides,
  };
}

export function createRun(overrides: Partial<Run> = {}): Run {
  return {
    id: 'run_1',
    suiteId: 'suite_1',
    status: 'completed',
    result: null,
    summary: null,
    createdAtMs: 1_790_000_000_000,
    completedAtMs: 1_790_000_012_000,
    notes: null,
    ...overrides,
  };
}

export function createFailure(overrides: Partial<IterationFailure> = {}): IterationFailure {
  return {
    iterationId: 'it_1',
    iterationNumber: 1,
    result: 'failed',
    reasons: ['Expected the result of add to contain "4", got "5".'],
    step: { id: 'sum', index: 1, kind: 'assert' },
    durationMs: 120,
    expectedToolCalls: [],
    actualToolCalls: [{ toolName: 'add', arguments: { a: 2, b: 2 } }],
    ...overrides,
  };
}
