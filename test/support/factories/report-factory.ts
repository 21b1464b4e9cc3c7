import type { RegressionLimits } from '../../../src/model/comparison.ts';
import {
  applyPricingDefaults,
  emptyPolicyLayer,
  type FlakyEffect,
  type GatePolicy,
  noGateRules,
  type SuitePolicy,
} from '../../../src/model/policy.ts';
import type { ConcurrencyReport } from '../../../src/model/concurrency.ts';
import type { Report } from '../../../src/model/report.ts';
import type { SuiteResults } from '../../../src/model/results.ts';
import { type ReportInput, buildReport } from '../../../src/report/build.ts';
import { buildTrend } from '../../../src/history/lookup.ts';
import { judgeGate } from '../../../src/verdict/judge-gate.ts';
import { noModelUsage } from '../../../src/model/usage.ts';
import { createBaseline, createBaselineCase } from './baseline-factory.ts';
import { createHistoryRecord } from './history-factory.ts';
import { atLeast, createPolicy, createQuarantineEntry, ofPolicy } from './policy-factory.ts';
import { createCaseResults, createFailure, createSuiteResults } from './results-factory.ts';

type ReportOverrides = Partial<Omit<ReportInput, 'suites' | 'verdict' | 'comparison' | 'policy'>> & {
  suites?: readonly SuiteResults[];
  policy?: SuitePolicy | ((results: SuiteResults) => SuitePolicy);
} & Partial<Pick<GatePolicy, 'baseline' | 'lowered' | 'prices'>> &
  Partial<RegressionLimits>;

/** The report on these results, with the product's own verdict; a small passing suite by default. */
export function createReport({
  suites = [createSuiteResults()],
  policy = createPolicy(),
  baseline = null,
  lowered = [],
  maximumRegressions = 0,
  maximumRateDrop = null,
  prices = [],
  ...rest
}: ReportOverrides = {}): Report {
  const policyOf = typeof policy === 'function' ? policy : () => policy;
  const gatePolicy: GatePolicy = {
    today: '2026-09-21',
    suites: [...new Map(suites.map((results) => [results.suiteId, results])).values()].map((results) => ({
      suiteId: results.suiteId,
      ...policyOf(results).requirements,
    })),
    maximumRegressions: { value: maximumRegressions, source: 'default' },
    maximumRateDrop: maximumRateDrop === null ? null : ofPolicy(maximumRateDrop),
    ...applyPricingDefaults({ ...noGateRules, prices }),
    baseline,
    lowered: [...lowered],
  };
  const { exit: _exit, ...judged } = judgeGate(suites, gatePolicy);
  return buildReport({
    startedAt: '2026-09-21T12:00:00.000Z',
    durationMs: 12_345,
    generator: { name: 'mcp-eval-ci', version: '0.1.0' },
    server: {
      transport: 'stdio',
      name: 'math',
      version: '2.0.0',
      protocolVersion: '2025-11-25',
      protocolVersions: ['2025-11-25'],
      isolation: 'process per iteration',
      sandbox: null,
    },
    policy: gatePolicy,
    ...rest,
    ...judged,
  });
}

/** The concurrency of a suite whose cases call only read-only tools, by default. */
function createConcurrencyReport(overrides: Partial<ConcurrencyReport> = {}): ConcurrencyReport {
  return {
    setting: 'auto',
    source: 'default',
    rule: 'read-only',
    limit: 4,
    tool: null,
    cases: 3,
    serialCases: 0,
    ...overrides,
  };
}

/** Two suites that pass, one of them with a failed iteration that its minimum tolerates. */
export function createGreenReport(): Report {
  return createReport({
    policy: ({ suiteId }) => createPolicy(suiteId === 'math' ? atLeast(0.8) : atLeast(1, 'default')),
    suites: [
      createSuiteResults({
        cases: [
          createCaseResults({ id: 'adds', title: 'Adds two numbers', durationsMs: [110, 120, 130], isRequired: true }),
          createCaseResults({ id: 'echoes', title: 'Echoes a long text', passed: 4, durationsMs: [40, 50] }),
          createCaseResults({ id: 'divides', title: 'Divides', passed: 2, failed: 1, failures: [createFailure()] }),
        ],
        concurrency: createConcurrencyReport(),
      }),
      createSuiteResults({
        concurrency: createConcurrencyReport({
          rule: 'not-read-only',
          limit: 1,
          tool: 'write_page',
          serialCases: 1,
          cases: 1,
        }),
        suiteId: 'search',
        name: 'Search',
        file: 'evals/search.evals.yaml',
        cases: [
          createCaseResults({
            id: 'finds',
            title: 'Finds a page',
            location: { file: 'evals/search.evals.yaml', line: 6, column: 5 },
            durationsMs: [1500],
          }),
        ],
      }),
    ],
  });
}

/** One suite below its minimum, with a required case that failed and failures of several kinds. */
export function createRedReport(): Report {
  return createReport({
    suites: [
      createSuiteResults({
        cases: [
          createCaseResults({ id: 'echoes', title: 'Echoes a long text', passed: 5, durationsMs: [40, 50] }),
          createCaseResults({
            id: 'adds',
            title: 'Adds two numbers',
            isRequired: true,
            passed: 1,
            failed: 2,
            durationsMs: [110, 120, 130],
            failures: [createFailure(), createFailure({ iterationId: 'it_3', iterationNumber: 3 })],
          }),
          createCaseResults({
            id: 'asks',
            title: 'Asks for the weather in Paris',
            location: { file: 'evals/math.evals.yaml', line: 21, column: 5 },
            passed: 1,
            failed: 2,
            failures: [
              createFailure({
                iterationId: 'it_7',
                iterationNumber: 1,
                step: { id: 'ask', index: 0, kind: 'prompt' },
                reasons: [
                  'The call of get_weather has other arguments than expected.',
                  'get_weather: MCP error -32602: unit must be one of celsius, fahrenheit',
                ],
                expectedToolCalls: [{ toolName: 'get_weather', arguments: { city: 'Paris', unit: 'celsius' } }],
                actualToolCalls: [{ toolName: 'get_weather', arguments: { city: 'Paris', unit: 'C' } }],
                source: {
                  file: 'src/weather.ts',
                  line: 3,
                  first: 1,
                  code: ['const units = new Set(["celsius"]);', '', 'throw new Error("unit");', '', '// <b>`end`</b>'],
                },
              }),
              createFailure({
                iterationId: 'it_8',
                iterationNumber: 2,
                result: 'timed_out',
                step: null,
                reasons: ['The iteration ran past its limit of 30 s.'],
                expectedToolCalls: [{ toolName: 'get_weather', arguments: { city: 'Paris' } }],
                actualToolCalls: [],
              }),
            ],
          }),
        ],
      }),
    ],
  });
}

/** A suite that meets its minimum but is worse than before: a case of each kind of change. */
export function createComparedReport(): Report {
  const cases = [
    createCaseResults({ id: 'adds', title: 'Adds two numbers', passed: 0, failed: 3, failures: [createFailure()] }),
    createCaseResults({ id: 'asks', title: 'Asks twice', passed: 2, failed: 1, failures: [createFailure()] }),
    createCaseResults({ id: 'divides', title: 'Divides', definitionHash: '00112233445566ff' }),
    createCaseResults({ id: 'echoes', title: 'Echoes a long text' }),
    createCaseResults({ id: 'finds', title: 'Finds a page' }),
    createCaseResults({ id: 'greets', title: 'Greets' }),
  ];
  const suites = [createSuiteResults({ cases, leftOut: ['slow'] })];
  const baseline = createBaseline([
    ...['adds', 'asks', 'divides', 'echoes', 'slow'].map((id) => createBaselineCase({ id, title: null })),
    createBaselineCase({ id: 'greets', passed: 0 }),
    createBaselineCase({ id: 'halves', title: 'Halves a number' }),
  ]);
  return createReport({
    suites,
    policy: createPolicy(atLeast(0.5)),
    revision: { commit: 'f'.repeat(40), branch: 'main' },
    baseline,
    trend: buildTrend([createHistoryRecord({ outcome: 'inconclusive' }), createHistoryRecord()], 'main'),
  });
}

/** The server died half way: one case passed, one was cut short, one never started. */
export function createInconclusiveReport(): Report {
  const suite = createSuiteResults({
    cases: [
      createCaseResults({ id: 'adds', title: 'Adds two numbers', durationsMs: [110] }),
      createCaseResults({
        id: 'divides',
        title: 'Divides',
        passed: 1,
        unscored: 2,
        failures: [
          createFailure({
            iterationId: 'it_5',
            iterationNumber: 2,
            result: 'failed',
            step: { id: 'call', index: 0, kind: 'toolCall' },
            reasons: ['The server under test exited with code 1 while divide was being called.'],
            actualToolCalls: [],
          }),
          createFailure({
            iterationId: 'it_6',
            iterationNumber: 3,
            result: 'cancelled',
            step: null,
            reasons: ['The iteration was cancelled before it had a result.'],
            actualToolCalls: [],
          }),
        ],
      }),
      createCaseResults({ id: 'roots', title: 'Takes square roots', passed: 0, planned: 3 }),
    ],
    interruption: {
      code: 'server-lost',
      message: 'The server under test ended and could not be started again.',
      output: ['Error: <b>no</b> `config` ]]> found', '    at load (server.js:3:7)'],
    },
  });
  const run = suite.run === null ? null : { ...suite.run, status: 'failed', notes: 'server exited' };
  return createReport({ suites: [{ ...suite, run }] });
}

/** A suite judged by a policy of many requirements: one is not met, and one of its two quarantine entries has expired. */
export function createPolicyReport(): Report {
  return createReport({
    notes: ['The policy that counts is the one of main; this change alters policy.yaml.'],
    policy: createPolicy({
      ...atLeast(0.5),
      confidence: ofPolicy(0.8),
      tags: [{ name: 'smoke', ...ofPolicy(1) }],
      required: [{ name: 'echoes', ...ofPolicy(true) }],
      quarantine: [createQuarantineEntry(), createQuarantineEntry({ case: 'echoes', expires: '2026-09-01' })],
      budgets: { ...emptyPolicyLayer.budgets, tokens: ofPolicy(1000) },
    }),
    suites: [
      createSuiteResults({
        cases: [
          createCaseResults({ id: 'adds', title: 'Adds', passed: 1, failed: 2, failures: [createFailure()] }),
          createCaseResults({ id: 'echoes', title: 'Echoes', tags: ['smoke'], passed: 5, tokensUsed: 600 }),
          createCaseResults({ id: 'asks', title: 'Asks', passed: 5, tokensUsed: 600 }),
          createCaseResults({ id: 'finds', title: 'Finds', passed: 5 }),
          createCaseResults({ id: 'roots', title: 'Takes roots', passed: 5 }),
        ],
      }),
    ],
  });
}

/** A suite in which two of three cases failed and ran again: one passed in the second round, and the third round was cut short. */
export function createFlakyReport(effect: FlakyEffect): Report {
  const round = { cases: 2, run: { id: 'run_2', suiteId: 'suite_1', status: 'completed', url: null }, shortfall: null };
  return createReport({
    policy: createPolicy({ ...atLeast(0.5), flaky: ofPolicy(effect), retryFailed: ofPolicy(3) }),
    suites: [
      createSuiteResults({
        cases: [
          createCaseResults({ id: 'echoes', title: 'Echoes a long text', passed: 2 }),
          createCaseResults({
            id: 'adds',
            title: 'Adds two numbers',
            isRequired: true,
            passed: 1,
            failed: 1,
            failures: [createFailure()],
            retries: [
              { passed: 0, total: 2 },
              { passed: 2, total: 2 },
            ],
          }),
          createCaseResults({
            id: 'divides',
            title: 'Divides',
            passed: 0,
            failed: 2,
            failures: [createFailure({ reasons: ['Division by zero.'] })],
            retries: [
              { passed: 0, total: 2 },
              { passed: 1, total: 2 },
            ],
          }),
        ],
        retries: [
          { ...round, round: 1 },
          { ...round, round: 2 },
          { ...round, round: 3, cases: 1, shortfall: 'The server under test exited with code 1 during the run.' },
        ],
      }),
    ],
  });
}

/** A run that was stopped when the minimum was out of reach: one case failed, one was running and one never started. */
export function createStoppedReport(): Report {
  const suite = createSuiteResults({
    cases: [
      createCaseResults({ id: 'adds', title: 'Adds two numbers', passed: 1, failed: 2, failures: [createFailure()] }),
      createCaseResults({ id: 'divides', title: 'Divides', passed: 1, unscored: 2 }),
      createCaseResults({ id: 'roots', title: 'Takes square roots', passed: 0, unscored: 3, isRequired: true }),
    ],
    isStoppedEarly: true,
  });
  return createReport({ suites: [{ ...suite, run: suite.run && { ...suite.run, status: 'cancelled' } }] });
}

/** A failed report in which every external text is `text`. */
export function createHostileReport(text: string): Report {
  const failure = createFailure({
    iterationId: text,
    iterationNumber: null,
    result: text,
    reasons: [text, `${text} ${text}`],
    step: { id: text, index: 0, kind: text },
    expectedToolCalls: [{ toolName: text, arguments: { [text]: text } }],
    actualToolCalls: [{ toolName: text, arguments: { value: [text] } }],
    source: { file: text, line: 1, first: 1, code: [text] },
  });
  const cases = ['a', 'b'].map((id) =>
    createCaseResults({
      id,
      model: id === 'a' ? text : `${text} ${text}`,
      usage: { ...noModelUsage, modelCalls: 1, inputTokens: 10 },
      title: text,
      tags: [text],
      isRequired: id === 'a',
      location: { file: text, line: 1, column: 1 },
      passed: 1,
      failed: 1,
      failures: [failure],
      retries: id === 'a' ? [] : [{ passed: 2, total: 2 }],
    }),
  );
  const retries = [
    { round: 1, cases: 2, run: { id: text, suiteId: text, status: text, url: text }, shortfall: null },
    { round: 2, cases: 1, run: null, shortfall: text },
  ];
  const concurrency = createConcurrencyReport({
    source: text,
    rule: 'not-read-only',
    tool: text,
    cases: 2,
    serialCases: 1,
  });
  const red = createSuiteResults({ name: text, file: text, cases, retries, concurrency });
  const broken = createSuiteResults({
    suiteId: 'broken',
    name: text,
    file: text,
    cases,
    interruption: { code: 'infrastructure', message: text },
  });
  const suites = [red];
  const baseline = createBaseline(['a', 'b', 'c'].map((id) => createBaselineCase({ id, title: text })));
  return createReport({
    baseline: { ...baseline, source: text, startedAt: text, commit: text },
    policy: ({ suiteId }) =>
      createPolicy({
        ...(suiteId === 'broken' ? {} : atLeast(0.9, text)),
        flaky: { value: 'fail', source: text },
      }),
    suites: [...suites, { ...broken, run: broken.run && { ...broken.run, status: text, notes: text } }],
    server: {
      transport: 'http',
      name: text,
      version: text,
      protocolVersion: text,
      protocolVersions: [text],
      isolation: 'stateless',
      sandbox: { level: 'none', network: 'shared', why: text },
    },
    otherServers: [
      {
        label: text,
        transport: 'sse',
        name: null,
        version: null,
        protocolVersion: null,
        protocolVersions: [],
        isolation: 'session per iteration',
        sandbox: null,
      },
    ],
  });
}
