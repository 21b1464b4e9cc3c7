import { describe, expect, it } from 'vitest';
import { judgeAssertion } from '../../src/engine/judge-assertion.ts';
import { noBrowserReason } from '../../src/checks/widgets.ts';
import { createEvidence, createToolResult } from '../support/factories/evidence-factory.ts';

const evidence = createEvidence({
  toolCalls: [
    { toolName: 'get-sum', arguments: { a: 2, b: 3, unit: 'm' } },
    { toolName: 'get-sum', arguments: { a: 4, b: 5 } },
    { toolName: 'echo', arguments: { message: 'hi', token: 'abc' } },
  ],
  toolResults: [createToolResult()],
  finalAssistantMessage: 'The Sum is 5.',
  userMessages: 2,
  tokensUsed: 120,
});
const nothing = createEvidence();
const calledWith = (args: object, rest: object = {}) => ({
  type: 'toolCalledWith',
  toolName: 'get-sum',
  args,
  ...rest,
});

describe('judgeAssertion on the predicates of the API', () => {
  it.each([
    [calledWith({ args: { a: 2, b: 3 } })],
    [calledWith({ args: {} }, { minCount: 2 })],
    [calledWith({ args: { a: 'number' } }, { minCount: 2 })],
    [calledWith({ args: { a: 4, b: 5 }, argumentMatching: 'exact' })],
    [calledWith({ args: { nope: 1 }, argumentMatching: 'ignore' })],
    [{ type: 'toolCalledAtLeastOnce', toolName: 'echo' }],
    [{ type: 'toolNeverCalled', toolName: 'get-env' }],
    [{ type: 'firstToolWas', toolName: 'get-sum' }],
    [{ type: 'responseContains', needle: 'sum IS' }],
    [{ type: 'responseContains', needle: 'Sum is', caseSensitive: true }],
    [{ type: 'responseMatches', pattern: 'is \\d\\.$' }],
    [{ type: 'noToolErrors' }],
    [{ type: 'finalAssistantMessageNonEmpty' }],
    [{ type: 'tokenBudgetUnder', tokens: 121 }],
    [{ type: 'turnCountUnder', turns: 3 }],
    [{ type: 'noToolErrors', note: 'unknown fields are ignored' }],
  ])('passes %j', async (predicate) => {
    expect(await judgeAssertion(predicate, evidence)).toEqual({ state: 'passed', reason: expect.any(String) });
  });

  it.each([
    [
      calledWith({ args: { a: 9 } }),
      'toolCalledWith: expected a call of get-sum with {"a":9}, found 0; the latest other call had {"a":4,"b":5}.',
    ],
    [
      calledWith({ args: { a: 2 } }, { minCount: 2 }),
      'toolCalledWith: expected a call of get-sum with {"a":2} at least 2 times, found 1; the latest other call had {"a":4,"b":5}.',
    ],
    [
      calledWith({ args: { a: 2, b: 3 }, argumentMatching: 'exact' }),
      'toolCalledWith: expected a call of get-sum with {"a":2,"b":3}, found 0; the latest other call had {"a":4,"b":5}.',
    ],
    [
      { type: 'toolCalledWith', toolName: 'echo', args: { args: { message: 'ho' } } },
      'toolCalledWith: expected a call of echo with {"message":"ho"}, found 0; the latest other call had {"message":"hi","token":"***"}.',
    ],
    [
      { type: 'toolCalledWith', toolName: 'Echo', args: { args: {} } },
      'toolCalledWith: expected a call of Echo with {}, found 0; tools called: get-sum, echo.',
    ],
    [
      { type: 'toolCalledAtLeastOnce', toolName: 'get-env' },
      'toolCalledAtLeastOnce: get-env was never called; tools called: get-sum, echo.',
    ],
    [{ type: 'toolNeverCalled', toolName: 'get-sum' }, 'toolNeverCalled: get-sum was called 2 times.'],
    [{ type: 'firstToolWas', toolName: 'echo' }, 'firstToolWas: the first tool was get-sum, expected echo.'],
    [
      { type: 'responseContains', needle: 'sum is', caseSensitive: true },
      'responseContains: the final assistant message is "The Sum is 5." and does not contain "sum is".',
    ],
    [
      { type: 'responseMatches', pattern: 'SUM' },
      'responseMatches: the final assistant message is "The Sum is 5." and does not match "SUM".',
    ],
    [{ type: 'tokenBudgetUnder', tokens: 120 }, 'tokenBudgetUnder: 120 tokens were used; the budget is under 120.'],
    [{ type: 'turnCountUnder', turns: 2 }, 'turnCountUnder: the user took 2 turns; the limit is under 2.'],
  ])('fails %j', async (predicate, reason) => {
    expect(await judgeAssertion(predicate, evidence)).toEqual({ state: 'failed', reason });
  });

  it.each([
    [
      { type: 'toolCalledAtLeastOnce', toolName: 'echo' },
      'toolCalledAtLeastOnce: echo was never called; no tool was called.',
    ],
    [{ type: 'firstToolWas', toolName: 'echo' }, 'firstToolWas: no tool was called, so echo was not the first.'],
    [
      { type: 'responseContains', needle: '5' },
      'responseContains: the final assistant message is empty and does not contain "5".',
    ],
    [{ type: 'finalAssistantMessageNonEmpty' }, 'finalAssistantMessageNonEmpty: the final assistant message is empty.'],
    [
      { type: 'tokenBudgetUnder', tokens: 100 },
      'tokenBudgetUnder: no tokens were measured, so nothing is known to be under 100.',
    ],
  ])('fails %j where nothing was measured', async (predicate, reason) => {
    expect(await judgeAssertion(predicate, nothing)).toEqual({ state: 'failed', reason });
  });

  it.each([
    { type: 'widgetRendered' },
    { type: 'widgetRenderLatencyUnder', ms: 100 },
    { type: 'widgetNoConsoleErrors' },
  ])('does not measure %j without a browser', async (predicate) => {
    const reason = `${predicate.type}: ${noBrowserReason}`;
    expect(await judgeAssertion(predicate, nothing)).toEqual({ state: 'unmeasured', reason });
  });

  it('counts no turn in a case without prompts, which is under any limit', async () => {
    expect((await judgeAssertion({ type: 'turnCountUnder', turns: 1 }, nothing)).state).toBe('passed');
  });

  it('finds a message of white space empty', async () => {
    const message = createEvidence({ finalAssistantMessage: ' \n' });
    expect((await judgeAssertion({ type: 'finalAssistantMessageNonEmpty' }, message)).state).toBe('failed');
  });

  it('fails noToolErrors with every error there was', async () => {
    const toolResults = [
      createToolResult(),
      createToolResult({ isError: true, toolError: 'echo answered with an error: "one".' }),
      createToolResult({ isError: true, toolError: 'echo answered with an error: "two".' }),
    ];
    expect(await judgeAssertion({ type: 'noToolErrors' }, createEvidence({ toolResults }))).toEqual({
      state: 'failed',
      reason: 'noToolErrors: echo answered with an error: "one"; echo answered with an error: "two".',
    });
  });

  it.each([
    ['(a+)+', 'the pattern "(a+)+" nests quantifiers, which can take for ever.'],
    ['(a*?)*', 'the pattern "(a*?)*" nests quantifiers, which can take for ever.'],
    ['(a{2}){3}', 'the pattern "(a{2}){3}" nests quantifiers, which can take for ever.'],
    ['(', 'the pattern "(" is not a regular expression.'],
  ])('refuses the pattern %j', async (pattern, reason) => {
    const judged = await judgeAssertion({ type: 'responseMatches', pattern }, evidence);
    expect(judged).toEqual({ state: 'failed', reason: `responseMatches: ${reason}` });
  });

  it('searches a message of 100 000 characters and refuses a longer one', async () => {
    const judge = async (length: number) =>
      (
        await judgeAssertion(
          { type: 'responseMatches', pattern: 'x' },
          createEvidence({ finalAssistantMessage: 'x'.repeat(length) }),
        )
      ).state;
    expect([await judge(100_000), await judge(100_001)]).toEqual(['passed', 'failed']);
  });
});
