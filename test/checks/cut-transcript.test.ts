import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Evidence } from '../../src/checks/evidence.ts';
import { judgeAssertion } from '../../src/engine/judge-assertion.ts';
import type { Check } from '../../src/checks/assertion.ts';
import { createEvidence, createToolResult } from '../support/factories/evidence-factory.ts';

const cutReason = 'The recording of turn 2 is stale';

/** What may happen next in an iteration. */
type TranscriptEvent =
  | { kind: 'call'; toolName: string; x: number; isError: boolean; latencyMs: number }
  | { kind: 'assistant'; text: string }
  | { kind: 'user' }
  | { kind: 'usage'; tokens: number };

/** `c` is not listed. */
const tools = new Map([
  ['a', { description: null, inputSchema: { properties: { x: { const: 0 } } }, annotations: {} }],
  ['b', { description: 'Deprecated.', inputSchema: { type: 'object' }, annotations: { destructiveHint: true } }],
]);

function toEvidence(events: readonly TranscriptEvent[]): Evidence {
  const calls = events.filter((event) => event.kind === 'call');
  const usages = events.filter((event) => event.kind === 'usage');
  return createEvidence({
    toolCalls: calls.map(({ toolName, x }) => ({ toolName, arguments: { x } })),
    toolResults: calls.map(({ toolName, x, isError, latencyMs }) =>
      createToolResult({
        toolName,
        arguments: { x, limit: 1 },
        text: x === 0 ? '0' : '[1]',
        sizeBytes: latencyMs,
        isError,
        toolError: isError ? `${toolName} answered with an error: "${x}".` : null,
        latencyMs,
        isListed: toolName !== 'c',
      }),
    ),
    finalAssistantMessage: events.findLast((event) => event.kind === 'assistant')?.text ?? '',
    userMessages: events.filter((event) => event.kind === 'user').length,
    tokensUsed: usages.length === 0 ? null : usages.reduce((sum, { tokens }) => sum + tokens, 0),
    tools,
  });
}

/** Of every kind, on the names and values that the transcripts have. */
const checks: readonly Check[] = [
  { type: 'toolCalledWith', toolName: 'a', args: { args: { x: 1 } } },
  { type: 'toolCalledWith', toolName: 'a', args: { args: { x: 1 }, argumentMatching: 'exact' }, minCount: 2 },
  { type: 'toolCalledAtLeastOnce', toolName: 'a' },
  { type: 'toolNeverCalled', toolName: 'a' },
  { type: 'firstToolWas', toolName: 'a' },
  { type: 'responseContains', needle: 'yes' },
  { type: 'responseMatches', pattern: '^y' },
  { type: 'noToolErrors' },
  { type: 'finalAssistantMessageNonEmpty' },
  { type: 'tokenBudgetUnder', tokens: 10 },
  { type: 'turnCountUnder', turns: 2 },
  { type: 'widgetRendered' },
  { type: 'widgetRenderLatencyUnder', ms: 5 },
  { type: 'widgetNoConsoleErrors' },
  { type: 'toolCalledBefore', toolName: 'a', beforeToolName: 'b' },
  { type: 'toolCalledBefore', toolName: 'a', beforeToolName: 'a' },
  { type: 'toolCallCountUnder', count: 2, toolName: 'a' },
  { type: 'onlyToolsCalled', toolNames: ['a', 'b'] },
  { type: 'argumentsMatchToolSchema' },
  { type: 'noDestructiveToolCalled' },
  { type: 'toolResultSizeUnder', maxBytes: 5 },
  { type: 'responseCloseTo', reference: 'yes', maxDistance: 0.5 },
  { type: 'noEndingQuestion', role: 'advisory' },
  { type: 'noRepeatedIdenticalCall', role: 'advisory' },
  { type: 'noDeprecatedToolCalled', role: 'advisory' },
  { type: 'toolErrorNamesInput', role: 'advisory' },
  { type: 'fullPageHasContinuation', role: 'advisory' },
  { type: 'not', assertion: { type: 'toolNeverCalled', toolName: 'a' } },
  { type: 'not', assertion: { type: 'toolCalledAtLeastOnce', toolName: 'a' } },
  { type: 'not', assertion: { type: 'tokenBudgetUnder', tokens: 10 } },
  { type: 'not', assertion: { type: 'widgetRendered' } },
  {
    type: 'anyOf',
    assertions: [
      { type: 'toolCalledAtLeastOnce', toolName: 'a' },
      { type: 'toolResultEquals', value: 0 },
      { type: 'not', assertion: { type: 'toolCallCountUnder', count: 2 } },
    ],
  },
  {
    type: 'allOf',
    assertions: [
      { type: 'toolNeverCalled', toolName: 'b' },
      { type: 'toolResultIsError', isError: false },
    ],
  },
  {
    type: 'not',
    assertion: {
      type: 'anyOf',
      assertions: [
        { type: 'toolNeverCalled', toolName: 'a' },
        { type: 'tokenBudgetUnder', tokens: 10 },
      ],
    },
  },
  { type: 'toolResultContains', needle: '1', toolName: 'a' },
  { type: 'toolResultContains', needle: '1', latest: true },
  { type: 'toolResultMatches', pattern: '^0$' },
  { type: 'toolResultEquals', value: 0 },
  { type: 'toolResultMatchesSchema', schema: { const: 0 } },
  { type: 'toolResultMatchesSchema', schema: { const: 0 }, latest: true },
  { type: 'toolResultIsError', isError: true },
  { type: 'toolLatencyUnder', ms: 5, toolName: 'a' },
  { type: 'toolResultContent', block: { type: 'text' } },
  { type: 'toolError', error: { contains: '1' } },
  { type: 'toMatchFile', file: 'a.json' },
  { type: 'toolNotFound', toolName: 'c' },
];

const events: fc.Arbitrary<TranscriptEvent> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('call' as const),
      toolName: fc.constantFrom('a', 'b', 'c'),
      x: fc.constantFrom(0, 1),
      isError: fc.boolean(),
      latencyMs: fc.constantFrom(1, 9),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('assistant' as const), text: fc.constantFrom('', 'yes', 'no') }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'user' as const }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('usage' as const), tokens: fc.constantFrom(1, 8) }) },
);
const transcripts = fc.array(events, { maxLength: 5 });

const call = (toolName: string, x: number, isError = false): TranscriptEvent => ({
  kind: 'call',
  toolName,
  x,
  isError,
  latencyMs: 9,
});

describe('a check on a transcript that was cut', () => {
  const calls = [call('b', 1, true), call('b', 1), call('a', 1)];

  it.each([
    ['toolCalledWith', { toolName: 'a', args: { args: {} } }],
    ['toolCalledAtLeastOnce', { toolName: 'a' }],
    ['firstToolWas', { toolName: 'b' }],
    ['toolCalledBefore', { toolName: 'b', beforeToolName: 'a' }],
    ['toolResultContains', { needle: '1' }],
    ['toolResultMatches', { pattern: '1' }],
    ['not', { assertion: { type: 'noToolErrors' } }],
  ])('passes %s %j if it holds already and what follows cannot change that', async (type, fields) => {
    expect(await judgeCut({ type, ...fields }, calls)).toBe('passed');
  });

  it.each([
    ['toolNeverCalled', { toolName: 'a' }],
    ['firstToolWas', { toolName: 'a' }],
    ['toolCalledBefore', { toolName: 'a', beforeToolName: 'b' }],
    ['toolCallCountUnder', { count: 3 }],
    ['onlyToolsCalled', { toolNames: ['b'] }],
    ['argumentsMatchToolSchema', {}],
    ['noDestructiveToolCalled', {}],
    ['noToolErrors', {}],
    ['toolResultSizeUnder', { maxBytes: 5 }],
    ['toolLatencyUnder', { ms: 5 }],
    ['toolResultMatchesSchema', { schema: { const: 0 } }],
    ['tokenBudgetUnder', { tokens: 1 }],
    ['turnCountUnder', { turns: 1 }],
    ['noRepeatedIdenticalCall', { role: 'advisory' }],
    ['noDeprecatedToolCalled', { role: 'advisory' }],
    ['fullPageHasContinuation', { role: 'advisory' }],
    ['not', { assertion: { type: 'toolCalledAtLeastOnce', toolName: 'a' } }],
  ])('fails %s %j if it is violated already and what follows cannot change that', async (type, fields) => {
    const events = [{ kind: 'user' as const }, ...calls, { kind: 'usage' as const, tokens: 8 }];
    expect(await judgeCut({ type, ...fields }, events)).toBe('failed');
  });

  it.each([
    ['toolCalledWith', { toolName: 'c', args: { args: {} } }],
    ['toolNeverCalled', { toolName: 'c' }],
    ['toolCalledBefore', { toolName: 'c', beforeToolName: 'd' }],
    ['onlyToolsCalled', { toolNames: ['a', 'b'] }],
    ['tokenBudgetUnder', { tokens: 9 }],
    ['responseContains', { needle: 'no' }],
    ['toolResultIsError', { isError: false }],
    ['toolResultContains', { needle: '2' }],
    ['toolResultContains', { needle: '1', latest: true }],
    ['toolResultMatchesSchema', { schema: {}, toolName: 'c' }],
    ['not', { assertion: { type: 'toolNeverCalled', toolName: 'c' } }],
  ])('does not measure %s %j, which what follows could change', async (type, fields) => {
    expect(await judgeCut({ type, ...fields }, calls)).toBe('unmeasured');
  });

  it('is unmeasured for the reason of the cut', async () => {
    expect(await judgeAssertion({ type: 'firstToolWas', toolName: 'a' }, createEvidence({ cutReason }))).toEqual({
      state: 'unmeasured',
      reason: `firstToolWas: not measured: ${cutReason}.`,
    });
  });

  it('fails a predicate that is malformed or unknown, which nothing that follows can change', async () => {
    expect(await judgeCut({ type: 'looksNice' }, [])).toBe('failed');
    expect(await judgeCut({ type: 'firstToolWas', toolName: '' }, [])).toBe('failed');
    expect(await judgeCut({ type: 'toolResultMatches', pattern: '(' }, [])).toBe('failed');
  });

  it('has the state that it has however the transcript goes on, if it is decided', async () => {
    await fc.assert(
      fc.asyncProperty(transcripts, transcripts, fc.constantFrom(...checks), async (before, after, check) => {
        const state = await judgeCut(check, before);
        if (state === 'unmeasured') return;
        expect((await judgeAssertion(check, toEvidence([...before, ...after]))).state).toBe(state);
      }),
      { numRuns: 4000 },
    );
  });
});

async function judgeCut(check: object, events: readonly TranscriptEvent[]) {
  return (await judgeAssertion(check, { ...toEvidence(events), cutReason })).state;
}
