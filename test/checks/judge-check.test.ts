import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { judgeAssertion } from '../../src/engine/judge-assertion.ts';
import { createEvidence, createToolResult } from '../support/factories/evidence-factory.ts';

const types = [
  'toolCalledWith',
  'toolCalledAtLeastOnce',
  'toolNeverCalled',
  'firstToolWas',
  'responseContains',
  'responseMatches',
  'noToolErrors',
  'finalAssistantMessageNonEmpty',
  'tokenBudgetUnder',
  'turnCountUnder',
  'widgetRendered',
  'widgetRenderLatencyUnder',
  'widgetNoConsoleErrors',
  'toolResultContains',
  'toolResultMatches',
  'toolResultEquals',
  'toolResultMatchesSchema',
  'toolResultIsError',
  'toolLatencyUnder',
];

describe('judgeAssertion', () => {
  it.each([
    [null, 'unknown predicate type nothing: nothing can be judged by it.'],
    ['noToolErrors', 'unknown predicate type nothing: nothing can be judged by it.'],
    [{ type: 'noToolError' }, 'unknown predicate type "noToolError": nothing can be judged by it.'],
    [{ type: 'toString' }, 'unknown predicate type "toString": nothing can be judged by it.'],
    [{ type: 7 }, 'unknown predicate type 7: nothing can be judged by it.'],
  ])('fails %j, which is no predicate it knows', async (predicate, reason) => {
    expect(await judgeAssertion(predicate, createEvidence())).toEqual({ state: 'failed', reason });
  });

  it.each([
    [{ type: 'toolNeverCalled' }],
    [{ type: 'toolNeverCalled', toolName: '' }],
    [{ type: 'toolCalledWith', toolName: 'a', args: { a: 1 } }],
    [{ type: 'toolCalledWith', toolName: 'a', args: { args: [] } }],
    [{ type: 'toolCalledWith', toolName: 'a', args: { args: {}, argumentMatching: 'fuzzy' } }],
    [{ type: 'toolCalledWith', toolName: 'a', args: { args: {} }, minCount: 0 }],
    [{ type: 'responseContains', needle: '' }],
    [{ type: 'responseContains', needle: 'x', caseSensitive: 'yes' }],
    [{ type: 'responseMatches', pattern: 5 }],
    [{ type: 'tokenBudgetUnder', tokens: 0 }],
    [{ type: 'tokenBudgetUnder', tokens: 1.5 }],
    [{ type: 'turnCountUnder', turns: -1 }],
    [{ type: 'turnCountUnder', turns: '3' }],
    [{ type: 'toolResultContains', needle: '' }],
    [{ type: 'toolResultEquals', path: '' }],
    [{ type: 'toolResultMatchesSchema', schema: 'object' }],
    [{ type: 'toolResultIsError', isError: 'true' }],
    [{ type: 'toolLatencyUnder', ms: 0 }],
  ])('fails %j, which is malformed', async (predicate) => {
    const evidence = createEvidence({ toolResults: [createToolResult()], finalAssistantMessage: 'x' });
    const judged = await judgeAssertion(predicate, evidence);
    expect(judged.state).toBe('failed');
    expect(judged.reason).toContain(`${predicate.type}: the predicate is malformed: `);
  });

  it('says which field is malformed', async () => {
    const predicate = { type: 'toolCalledWith', toolName: 'a', args: { args: [] } };
    expect((await judgeAssertion(predicate, createEvidence())).reason).toBe(
      'toolCalledWith: the predicate is malformed: args.args: expected an object.',
    );
  });

  it('cuts a reason to 600 characters', async () => {
    const schema = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`member-${index}`, 'x'.repeat(50)]));
    const predicate = { type: 'toolCalledWith', toolName: 'x'.repeat(500), args: { args: schema } };
    expect((await judgeAssertion(predicate, createEvidence())).reason).toHaveLength(600);
  });

  const fieldNames = [
    'toolName',
    'args',
    'minCount',
    'needle',
    'pattern',
    'tokens',
    'turns',
    'ms',
    'text',
    'value',
    'path',
  ];
  const predicates = fc
    .tuple(
      fc.constantFrom(...types),
      fc.dictionary(fc.constantFrom(...fieldNames, 'schema', 'isError'), fc.jsonValue()),
    )
    .map(([type, fields]) => ({ ...fields, type }));
  const results = fc.record({
    toolName: fc.string(),
    text: fc.oneof(fc.string(), fc.json()),
    structuredContent: fc.option(fc.jsonValue(), { nil: undefined }),
    isError: fc.boolean(),
    toolError: fc.option(fc.string(), { nil: null }),
    latencyMs: fc.option(fc.double({ min: 0, noNaN: true })),
    arguments: fc.option(fc.dictionary(fc.string(), fc.jsonValue())),
    content: fc.option(fc.array(fc.dictionary(fc.string(), fc.jsonValue()))),
    errorCode: fc.option(fc.integer()),
    sizeBytes: fc.option(fc.nat()),
    isListed: fc.option(fc.boolean()),
  });
  const evidences = fc.record({
    toolCalls: fc.array(fc.record({ toolName: fc.string(), arguments: fc.dictionary(fc.string(), fc.jsonValue()) })),
    toolResults: fc.array(results),
    replies: fc.constant([]),
    finalAssistantMessage: fc.string(),
    refusal: fc.option(fc.string()),
    userMessages: fc.nat(),
    tokensUsed: fc.option(fc.nat(), { nil: null }),
    tools: fc.constant(null),
    messages: fc.constant([]),
    notifications: fc.constant({ entries: [], dropped: 0 }),
    clientRequests: fc.constant(null),
    widgets: fc.constant(null),
    cutReason: fc.option(fc.string()),
  });

  it('always returns a reason of at most 600 characters, whatever the predicate and the transcript', async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(predicates, fc.jsonValue()), evidences, async (predicate, evidence) => {
        const { state, reason } = await judgeAssertion(predicate, evidence);
        expect(['passed', 'failed', 'unmeasured']).toContain(state);
        expect(reason.length).toBeGreaterThan(0);
        expect(reason.length).toBeLessThanOrEqual(600);
      }),
      { numRuns: 300 },
    );
  });
});
