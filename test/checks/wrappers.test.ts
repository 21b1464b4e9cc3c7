import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { judgeAssertion } from '../../src/engine/judge-assertion.ts';
import { type Assertion, type InnerCheck, listExpectedErrors } from '../../src/checks/assertion.ts';
import type { CheckState } from '../../src/model/trace.ts';
import { createEvidence, createToolResult } from '../support/factories/evidence-factory.ts';

const evidence = createEvidence({
  toolCalls: [{ toolName: 'get-sum', arguments: {} }],
  toolResults: [createToolResult()],
});

/** One check for each state that a check can have on this evidence. */
const leaves: Readonly<Record<CheckState, InnerCheck>> = {
  passed: { type: 'toolResultContains', needle: '5' },
  failed: { type: 'toolNeverCalled', toolName: 'get-sum' },
  unmeasured: { type: 'noDestructiveToolCalled' },
};
const states = ['passed', 'failed', 'unmeasured'] as const;
const judge = async (check: object) => await judgeAssertion(check, evidence);

describe('anyOf and allOf', () => {
  const lists = fc.array(fc.constantFrom(...states), { minLength: 1, maxLength: 4 });

  it('follow the logic of three values, negated or not', async () => {
    await fc.assert(
      fc.asyncProperty(lists, async (list) => {
        const assertions = list.map((state) => leaves[state]);
        const find = (order: readonly CheckState[]) => order.find((state) => list.includes(state));
        const anyOf = find(['passed', 'unmeasured', 'failed']);
        const allOf = find(['failed', 'unmeasured', 'passed']);
        const negated = { passed: 'failed', failed: 'passed', unmeasured: 'unmeasured' } as const;
        for (const [type, state] of [['anyOf', anyOf] as const, ['allOf', allOf] as const]) {
          expect((await judge({ type, assertions })).state).toBe(state);
          expect((await judge({ type: 'not', assertion: { type, assertions } })).state).toBe(
            negated[state ?? 'failed'],
          );
        }
      }),
    );
  });

  it.each([
    [
      { type: 'anyOf', assertions: [leaves.failed, leaves.passed] },
      'anyOf: toolResultContains: the result of get-sum is "The sum of 2 and 3 is 5." and contains "5".',
    ],
    [
      { type: 'anyOf', assertions: [leaves.failed, { type: 'not', assertion: leaves.passed }] },
      'anyOf: none holds: toolNeverCalled: get-sum was called once; not: toolResultContains: the result of get-sum is "The sum of 2 and 3 is 5." and contains "5".',
    ],
    [{ type: 'allOf', assertions: [leaves.passed, leaves.failed] }, 'allOf: toolNeverCalled: get-sum was called once.'],
    [
      { type: 'allOf', assertions: [leaves.passed, { type: 'anyOf', assertions: [leaves.failed] }] },
      'allOf: anyOf: none holds: toolNeverCalled: get-sum was called once.',
    ],
    [
      { type: 'allOf', assertions: [leaves.passed, leaves.unmeasured] },
      'allOf: noDestructiveToolCalled: the list of tools was not captured.',
    ],
  ])('say of %j why', async (check, reason) => {
    expect((await judge(check)).reason).toBe(reason);
  });

  it('leave unmeasured under not what a part only fails for want of a measurement', async () => {
    const tokens = { type: 'tokenBudgetUnder', tokens: 5 };
    const anyOf = { type: 'anyOf', assertions: [tokens, leaves.failed] };
    const allOf = { type: 'allOf', assertions: [tokens, leaves.passed] };
    expect([(await judge(anyOf)).state, (await judge(allOf)).state]).toEqual(['failed', 'failed']);
    expect((await judge({ type: 'not', assertion: anyOf })).state).toBe('unmeasured');
    expect((await judge({ type: 'not', assertion: allOf })).state).toBe('unmeasured');
    const decided = { type: 'allOf', assertions: [tokens, leaves.failed] };
    expect((await judge({ type: 'not', assertion: decided })).state).toBe('passed');
  });

  it.each([
    [[{ type: 'looksNice' }, leaves.passed], 'anyOf: unknown predicate type "looksNice"'],
    [[leaves.passed, { type: 'toolResultMatches', pattern: '(' }], 'anyOf: toolResultMatches: the pattern "("'],
    [[], 'anyOf: the predicate is malformed: assertions: Too small'],
    ['noToolErrors', 'anyOf: the predicate is malformed: assertions: '],
    [
      [{ type: 'judge', rubric: 'x' }],
      'anyOf: the predicate is malformed: assertions.0: `anyOf` cannot wrap a `judge`',
    ],
    [[{ type: 'noEndingQuestion', role: 'advisory' }], '`noEndingQuestion` is a heuristic, which `anyOf` cannot wrap'],
    [[{ ...leaves.passed, role: 'advisory' }], 'Write `role` and `severity` next to `anyOf`'],
  ])('fail with a part that cannot be judged, negated or not: %j', async (assertions, reason) => {
    const anyOf = { type: 'anyOf', assertions };
    expect(await judge(anyOf)).toEqual({ state: 'failed', reason: expect.stringContaining(reason) });
    expect((await judge({ type: 'not', assertion: anyOf })).state).toBe('failed');
  });
});

describe('listExpectedErrors', () => {
  const isError = (isError: boolean): InnerCheck => ({ type: 'toolResultIsError', isError, toolName: 'a' });
  const code: InnerCheck = { type: 'toolError', error: { code: 1 } };
  const missing: InnerCheck = { type: 'toolNotFound', toolName: 'b' };
  const ofA = { of: 'tool', toolName: 'a', mayBeMissing: false };
  const ofAny = { of: 'tool', toolName: undefined, mayBeMissing: false };

  it.each<[Assertion, object[]]>([
    [isError(true), [ofA]],
    [isError(false), []],
    [code, [ofAny]],
    [{ type: 'not', assertion: { type: 'toolError', error: { code: 1 } } }, []],
    [
      { type: 'anyOf', assertions: [leaves.passed, isError(true), missing] },
      [ofA, { of: 'tool', toolName: 'b', mayBeMissing: true }],
    ],
    [{ type: 'allOf', assertions: [code, isError(false)] }, [ofAny]],
    [{ type: 'not', assertion: { type: 'anyOf', assertions: [isError(false), missing] } }, [ofA]],
    [
      { type: 'anyOf', assertions: [{ type: 'not', assertion: { type: 'allOf', assertions: [isError(false)] } }] },
      [ofA],
    ],
    [{ type: 'anyOf', assertions: [isError(true)], role: 'advisory' }, []],
  ])('finds the errors that %j expects', (assertion, expected) => {
    expect(listExpectedErrors(assertion)).toEqual(expected);
  });
});
