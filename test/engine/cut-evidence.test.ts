import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Evidence } from '../../src/engine/evidence.ts';
import { judgePredicate } from '../../src/engine/predicates.ts';
import type { Check } from '../../src/model/assertion.ts';
import { createEvidence, createToolResult } from '../support/factories/evidence-factory.ts';

const isCut = 'The recording of turn 2 is stale';

/** What may happen next in an iteration. */
type TranscriptEvent =
  | { kind: 'call'; toolName: string; x: number; isError: boolean; latencyMs: number }
  | { kind: 'assistant'; text: string }
  | { kind: 'user' }
  | { kind: 'usage'; tokens: number };

function toEvidence(events: readonly TranscriptEvent[]): Evidence {
  const calls = events.filter((event) => event.kind === 'call');
  const usages = events.filter((event) => event.kind === 'usage');
  return createEvidence({
    toolCalls: calls.map(({ toolName, x }) => ({ toolName, arguments: { x } })),
    toolResults: calls.map(({ toolName, x, isError, latencyMs }) =>
      createToolResult({
        toolName,
        text: String(x),
        isError,
        toolError: isError ? `${toolName} answered with an error: "${x}".` : null,
        latencyMs,
        isListed: toolName !== 'c',
      }),
    ),
    finalAssistantMessage: events.findLast((event) => event.kind === 'assistant')?.text ?? '',
    userMessages: events.filter((event) => event.kind === 'user').length,
    tokensUsed: usages.length === 0 ? null : usages.reduce((sum, { tokens }) => sum + tokens, 0),
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
  { type: 'toolResultContains', text: '1', toolName: 'a' },
  { type: 'toolResultMatches', pattern: '^1$' },
  { type: 'toolResultEquals', value: 1 },
  { type: 'toolResultSchema', schema: { const: 1 } },
  { type: 'toolResultIsError', isError: true },
  { type: 'toolLatencyUnder', ms: 5, toolName: 'a' },
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

describe('a check on a transcript that was cut', () => {
  const first = {
    toolCalls: [{ toolName: 'a', arguments: { x: 1 } }],
    toolResults: [createToolResult({ toolName: 'a' })],
  };

  it.each([
    [{ type: 'toolCalledWith', toolName: 'a', args: { args: {} } }, 'passed'],
    [{ type: 'toolCalledWith', toolName: 'b', args: { args: {} } }, 'unmeasured'],
    [{ type: 'toolNeverCalled', toolName: 'a' }, 'failed'],
    [{ type: 'toolNeverCalled', toolName: 'b' }, 'unmeasured'],
    [{ type: 'firstToolWas', toolName: 'a' }, 'passed'],
    [{ type: 'firstToolWas', toolName: 'b' }, 'failed'],
    [{ type: 'noToolErrors' }, 'unmeasured'],
    [{ type: 'tokenBudgetUnder', tokens: 9 }, 'unmeasured'],
    [{ type: 'toolResultIsError', isError: false }, 'unmeasured'],
  ])('of %j is %s after one call', async (check, state) => {
    expect((await judgePredicate(check, createEvidence({ ...first, isCut }))).state).toBe(state);
  });

  it('is unmeasured for the reason of the cut', async () => {
    expect(await judgePredicate({ type: 'firstToolWas', toolName: 'a' }, createEvidence({ isCut }))).toEqual({
      state: 'unmeasured',
      reason: `firstToolWas: not measured: ${isCut}.`,
    });
  });

  it('fails a predicate that is malformed or unknown, which nothing that follows can change', async () => {
    const evidence = createEvidence({ isCut });
    expect((await judgePredicate({ type: 'looksNice' }, evidence)).state).toBe('failed');
    expect((await judgePredicate({ type: 'firstToolWas', toolName: '' }, evidence)).state).toBe('failed');
  });

  it('has the state that it has however the transcript goes on, if it is decided', async () => {
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(transcripts, transcripts, fc.constantFrom(...checks), async (before, after, check) => {
        const { state } = await judgePredicate(check, { ...toEvidence(before), isCut });
        seen.add(`${check.type} ${state}`);
        if (state === 'unmeasured') return;
        expect((await judgePredicate(check, toEvidence([...before, ...after]))).state).toBe(state);
      }),
      { numRuns: 2000 },
    );
    // The property says nothing about a kind that it never saw decided.
    expect([...seen]).toEqual(
      expect.arrayContaining([
        'toolCalledWith passed',
        'firstToolWas failed',
        'noToolErrors failed',
        'turnCountUnder failed',
      ]),
    );
  });
});
