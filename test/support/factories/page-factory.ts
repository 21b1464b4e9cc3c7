import type { Evidence, IterationMark, IterationTrace } from '../../../src/model/evidence.ts';
import { emptyPolicyLayer } from '../../../src/model/policy.ts';
import type { Report } from '../../../src/model/report.ts';
import { buildTrend } from '../../../src/history/lookup.ts';
import { createBaseline, createBaselineCase } from './baseline-factory.ts';
import { createHistoryRecord } from './history-factory.ts';
import { atLeast, createPolicy, createQuarantineEntry, ofPolicy } from './policy-factory.ts';
import { createReport } from './report-factory.ts';
import { createCaseResults, createFailure, createSuiteResults } from './results-factory.ts';

/** A failed report that contains everything that a page can show. */
export function createPageReport(): Report {
  const place = (line: number) => ({ file: 'evals/weather.evals.yaml', line, column: 5 });
  const cases = [
    createCaseResults({
      id: 'asks',
      title: 'Asks for the weather in Paris',
      tags: ['smoke', 'prompt'],
      isRequired: true,
      location: place(21),
      passed: 3,
      failed: 2,
      durationsMs: [820, 1410, 905, 2240, 990],
      failures: [
        createFailure({
          iterationId: 'it_asks_2',
          iterationNumber: 2,
          durationMs: 1410,
          step: { id: 'ask', index: 0, kind: 'prompt' },
          reasons: [
            'The call of get_forecast has other arguments than expected.',
            'get_forecast: MCP error -32602: unit must be one of celsius, fahrenheit',
          ],
          expectedToolCalls: [
            { toolName: 'find_city', arguments: { name: 'Paris', country: 'FR' } },
            { toolName: 'get_forecast', arguments: { city: 'Paris', days: 3, unit: 'celsius' } },
          ],
          actualToolCalls: [
            { toolName: 'find_city', arguments: { country: 'FR', name: 'Paris' } },
            { toolName: 'get_forecast', arguments: { city: 'Paris', days: 3, unit: 'C' } },
          ],
        }),
        createFailure({
          iterationId: 'it_asks_4',
          iterationNumber: 4,
          durationMs: 2240,
          result: 'timed_out',
          step: null,
          reasons: ['The iteration ran past its limit of 2.2 s.'],
          expectedToolCalls: [{ toolName: 'find_city', arguments: { name: 'Paris', country: 'FR' } }],
          actualToolCalls: [],
        }),
      ],
    }),
    createCaseResults({
      id: 'adds',
      title: 'Converts degrees',
      tags: ['units'],
      location: place(44),
      passed: 0,
      failed: 5,
      durationsMs: [110, 120, 130, 115, 125],
      failures: [1, 2, 3, 4, 5].map((iterationNumber) =>
        createFailure({
          iterationId: `it_adds_${iterationNumber}`,
          iterationNumber,
          reasons: ['Expected the result of convert to contain "212", got "211.99999".'],
          actualToolCalls: [{ toolName: 'convert', arguments: { from: 'C', to: 'F', value: 100 } }],
        }),
      ),
    }),
    createCaseResults({
      id: 'flaps',
      title: 'Follows a redirect',
      tags: ['network'],
      location: place(70),
      passed: 3,
      failed: 2,
      failures: [createFailure({ iterationId: 'it_flaps_3', iterationNumber: 3 })],
    }),
    ...['Lists cities', 'Gets the forecast', 'Reads the units', 'Refuses an unknown city'].map((title, index) =>
      createCaseResults({
        id: title.toLowerCase().replaceAll(' ', '-'),
        title,
        tags: index < 2 ? ['smoke'] : [],
        location: place(80 + index * 9),
        passed: 5,
        durationsMs: [40, 52, 47, 61, 44].map((ms) => ms * (index + 1)),
      }),
    ),
  ];
  const suites = [
    createSuiteResults({
      suiteId: 'weather',
      name: 'Weather server',
      file: 'evals/weather.evals.yaml',
      cases,
    }),
  ];
  const record = (day: number, outcome: 'passed' | 'failed' | 'inconclusive', passed: number) =>
    createHistoryRecord({
      startedAt: `2026-09-${String(day).padStart(2, '0')}T02:00:00.000Z`,
      outcome,
      cases: [
        { suiteId: 'weather', id: 'asks', passed, total: 40, replayed: 0, definitionHash: null, durationMs: null },
      ],
    });
  const trend = buildTrend(
    [
      record(10, 'passed', 39),
      record(11, 'passed', 40),
      record(12, 'passed', 38),
      record(13, 'inconclusive', 12),
      record(14, 'passed', 40),
      record(15, 'failed', 33),
      record(16, 'passed', 37),
      record(17, 'passed', 39),
    ],
    'main',
  );
  const baseline = createBaseline([
    ...cases
      .slice(0, 6)
      .map(({ id, title }) => createBaselineCase({ suiteId: 'weather', id, title, passed: 5, total: 5 })),
    createBaselineCase({ suiteId: 'weather', id: 'gone', title: 'Reads the tides' }),
  ]);
  return createReport({
    suites,
    server: {
      transport: 'stdio',
      name: 'weather',
      version: '2.0.0',
      protocolVersion: '2025-11-25',
      protocolVersions: ['2025-11-25'],
      isolation: 'process per iteration',
      sandbox: null,
    },
    revision: { commit: '4f2c91e07a5b3d8c6e1f9a20b7d4c8e35f60a1b2', branch: 'main' },
    trend,
    baseline,
    maximumRateDrop: 0.05,
    notes: ['The policy that counts is the one of main; this change alters policy.yaml.'],
    policy: createPolicy({
      ...atLeast(0.9, 'evals/weather.evals.yaml:4'),
      tags: [{ name: 'smoke', ...ofPolicy(0.9) }],
      quarantine: [createQuarantineEntry({ case: 'flaps' })],
      budgets: { ...emptyPolicyLayer.budgets, tokens: ofPolicy(50_000) },
    }),
  });
}

/** The single iterations of that report. */
export function createPageEvidence(report: Report): Evidence {
  const iterations = report.cases.flatMap(({ suiteId, id, planned, total, failures, durationMs }) =>
    Array.from({ length: planned }, (_, index): IterationMark => {
      const number = index + 1;
      const failure = failures.find(({ iterationNumber }) => iterationNumber === number);
      const isScored = number <= total;
      return {
        suiteId,
        caseId: id,
        iterationId: failure?.iterationId ?? `it_${id}_${number}`,
        iterationNumber: number,
        outcome: failure === undefined ? (isScored ? 'passed' : 'unscored') : 'failed',
        isReplayed: null,
        durationMs: isScored ? (failure?.durationMs ?? (durationMs ?? 100) * (1 + ((number * 7) % 5) / 10)) : null,
      };
    }),
  );
  return {
    iterations,
    traces: [createIterationTrace({ suiteId: 'weather', iterationId: 'it_asks_2' })],
    definitions: [
      {
        file: 'evals/weather.evals.yaml',
        line: 21,
        text: 'title: Asks for the weather in Paris\nsteps:\n  - prompt: Do I need a coat in Paris this week?',
      },
    ],
  };
}

/** A prompt, two calls of which the second is refused, and the durations. */
export function createIterationTrace(overrides: Partial<IterationTrace> = {}): IterationTrace {
  return {
    suiteId: 'math',
    iterationId: 'it_1',
    messages: [
      { role: 'user', parts: [{ kind: 'text', toolName: null, text: 'Do I need a coat in Paris this week?' }] },
      {
        role: 'assistant',
        parts: [
          { kind: 'text', toolName: null, text: 'I will look the city up first.' },
          { kind: 'call', toolName: 'find_city', text: '{\n  "name": "Paris",\n  "country": "FR"\n}' },
        ],
      },
      { role: 'tool', parts: [{ kind: 'result', toolName: 'find_city', text: 'Paris, FR: 48.8566 N, 2.3522 E' }] },
      {
        role: 'assistant',
        parts: [
          { kind: 'call', toolName: 'get_forecast', text: '{\n  "city": "Paris",\n  "days": 3,\n  "unit": "C"\n}' },
        ],
      },
      {
        role: 'tool',
        parts: [
          {
            kind: 'error',
            toolName: 'get_forecast',
            text: 'MCP error -32602: unit must be one of celsius, fahrenheit',
          },
        ],
      },
      { role: 'assistant', parts: [{ kind: 'text', toolName: null, text: 'I could not get the forecast.' }] },
    ],
    spans: [
      { name: 'ask', category: 'step', startMs: 0, durationMs: 1405, isError: false },
      { name: 'model turn', category: 'llm', startMs: 3, durationMs: 610, isError: false },
      { name: 'find_city', category: 'tool', startMs: 615, durationMs: 88, isError: false },
      { name: 'model turn', category: 'llm', startMs: 705, durationMs: 480, isError: false },
      { name: 'get_forecast', category: 'tool', startMs: 1188, durationMs: 31, isError: true },
      { name: 'model turn', category: 'llm', startMs: 1221, durationMs: 182, isError: false },
    ],
    spansLeftOut: 0,
    output: [
      { startMs: -40, text: 'weather server 2.0.0 is ready' },
      { startMs: 1190, text: 'unknown unit: C' },
    ],
    ...overrides,
  };
}
