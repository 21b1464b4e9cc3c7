import { emptyPolicyLayer, type Pricing } from '../../../src/model/policy.ts';
import type { Evidence, IterationMark } from '../../../src/model/evidence.ts';
import type { Report } from '../../../src/model/report.ts';
import type { CaseResults } from '../../../src/model/results.ts';
import { type ModelUsage, noModelUsage } from '../../../src/model/usage.ts';
import { atLeast, createPolicy, ofPolicy } from './policy-factory.ts';
import { createReport } from './report-factory.ts';
import { createCaseResults, createFailure, createSuiteResults } from './results-factory.ts';

export const [smallModel, largeModel] = ['anthropic/claude-haiku-4.5', 'openai/gpt-5.2'] as const;

/** The prices of both models. */
const modelPrices: Pricing['prices'] = [
  { name: smallModel, ...ofPolicy({ input: 1, cachedInput: 0.1, output: 5 }) },
  { name: largeModel, ...ofPolicy({ input: 2, cachedInput: 0.2, output: 10 }) },
];

export const staleReason = [
  'The recording of call 2 of iteration 5 is stale. Re-record with `mcp-eval-ci record`.',
  'The description of tool read_note changed: recorded "Reads a note", now "Reads a note, or part of it".',
  'The result of read_note differs: /text recorded "Buy milk", now "Buy oat milk".',
].join('\n');

export function createUsage(usage: Partial<ModelUsage>): ModelUsage {
  return { ...noModelUsage, ...usage };
}

/** A case of a matrix: an evals file makes one for each model. */
function createVariant(model: string, line: number, overrides: Partial<CaseResults> & { id: string }): CaseResults {
  const { id, title = '' } = overrides;
  return createCaseResults({
    location: { file: 'evals/notes.evals.yaml', line, column: 5 },
    model,
    ...overrides,
    id: `${id}--${model.replaceAll(/[^a-z0-9]+/g, '-')}`,
    title: `${title} (${model})`,
  });
}

/**
 * A report of two cases with two models each, and one case without a model: live iterations, recorded ones, a stale recording and failures.
 * The second model is below the minimum.
 */
export function createModelsReport(overrides: Partial<Pricing> = {}): Report {
  const [reads, finds] = [
    { id: 'reads', title: 'Reads the note it was asked about' },
    { id: 'finds', title: 'Finds a note by its text' },
  ];
  const failure = createFailure({
    iterationId: 'it_9',
    iterationNumber: 2,
    step: { id: 'ask', index: 1, kind: 'prompt' },
    reasons: ['In turn 1 the model did not call read_note.'],
    expectedToolCalls: [{ toolName: 'read_note', arguments: { id: 7 } }],
    actualToolCalls: [{ toolName: 'list_notes', arguments: {} }],
  });
  const stale = createFailure({
    iterationId: 'it_5',
    iterationNumber: 5,
    result: 'unscored',
    step: null,
    reasons: [staleReason],
    actualToolCalls: [],
  });
  const cases = [
    createVariant(smallModel, 9, {
      ...reads,
      passed: 4,
      unscored: 1,
      replayed: { passed: 4, total: 4 },
      usage: createUsage({ replayedCalls: 9 }),
      failures: [stale],
    }),
    createVariant(largeModel, 9, {
      ...reads,
      passed: 3,
      failed: 2,
      tokensUsed: 21_300,
      usage: createUsage({ modelCalls: 11, inputTokens: 20_000, cachedInputTokens: 8000, outputTokens: 1300 }),
      failures: [failure],
    }),
    createVariant(smallModel, 17, {
      ...finds,
      passed: 5,
      replayed: { passed: 2, total: 2 },
      tokensUsed: 6500,
      usage: createUsage({ modelCalls: 6, replayedCalls: 4, inputTokens: 6000, outputTokens: 500 }),
    }),
    createVariant(largeModel, 17, {
      ...finds,
      passed: 5,
      tokensUsed: 10_900,
      usage: createUsage({ modelCalls: 10, inputTokens: 10_000, cachedInputTokens: 2000, outputTokens: 900 }),
    }),
    createCaseResults({ id: 'counts', title: 'Counts notes', passed: 5 }),
  ];
  return createReport({
    policy: createPolicy({
      ...atLeast(0.85, 'evals/notes.evals.yaml:4'),
      budgets: { ...emptyPolicyLayer.budgets, infrastructureErrors: ofPolicy(1), cost: ofPolicy(0.5) },
    }),
    suites: [createSuiteResults({ suiteId: 'notes', name: 'Notes', file: 'evals/notes.evals.yaml', cases })],
    prices: modelPrices,
    ...overrides,
  });
}

/** The single iterations of that report, with the conversation of the failed one. */
export function createModelsEvidence({ cases }: Report): Evidence {
  const iterations = cases.flatMap(({ suiteId, id, model, planned, passed, total, replayed, failures }) =>
    Array.from({ length: planned }, (_, index): IterationMark => {
      const outcome = index < passed ? 'passed' : index < total ? 'failed' : 'unscored';
      return {
        suiteId,
        caseId: id,
        iterationId: index === passed ? (failures[0]?.iterationId ?? `${id}_${index}`) : `${id}_${index}`,
        iterationNumber: index + 1,
        outcome,
        durationMs: 900 + index * 100,
        isReplayed: model === null ? null : index < replayed.total,
      };
    }),
  );
  const text = (said: string) => ({ kind: 'text' as const, toolName: null, text: said });
  return {
    iterations,
    traces: [
      {
        suiteId: 'notes',
        iterationId: 'it_9',
        messages: [
          { role: 'system', parts: [text('You help people find their notes.')] },
          { role: 'user', parts: [text('What does note 7 say?')] },
          {
            role: 'assistant',
            parts: [text('I will list the notes.'), { kind: 'call', toolName: 'list_notes', text: '{}' }],
          },
          { role: 'tool', parts: [{ kind: 'result', toolName: 'list_notes', text: '7: Buy milk' }] },
          { role: 'assistant', parts: [] },
        ],
        spans: [{ name: largeModel, category: 'llm', startMs: 0, durationMs: 700, isError: false }],
        spansLeftOut: 0,
        output: [],
      },
    ],
    definitions: [],
  };
}
