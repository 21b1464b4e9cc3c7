import { describe, expect, it } from 'vitest';
import { judgeAssertion } from '../../src/engine/judge-assertion.ts';
import { noBrowserReason } from '../../src/checks/widgets.ts';
import { createEvidence, createToolResult } from '../support/factories/evidence-factory.ts';

const evidence = createEvidence({ toolResults: [createToolResult()], finalAssistantMessage: 'The sum is 5.' });
const not = (assertion: object, rest: object = {}) => ({ type: 'not', assertion, ...rest });

describe('judgeAssertion on a negated assertion', () => {
  it.each([
    [
      { type: 'toolResultContains', needle: 'error' },
      'passed',
      'the result of get-sum is "The sum of 2 and 3 is 5." and does not contain "error".',
    ],
    [
      { type: 'toolResultContains', needle: 'sum' },
      'failed',
      'the result of get-sum is "The sum of 2 and 3 is 5." and contains "sum".',
    ],
    [{ type: 'noToolErrors' }, 'failed', 'no tool answered with an error.'],
  ])('turns over what %j measured: %s', async (assertion, state, reason) => {
    expect(await judgeAssertion(not(assertion), evidence)).toEqual({
      state,
      reason: `not: ${assertion.type}: ${reason}`,
    });
  });

  it.each([
    [{ type: 'noDestructiveToolCalled' }, 'the list of tools was not captured.'],
    [{ type: 'tokenBudgetUnder', tokens: 5 }, 'no tokens were measured, so nothing is known to be under 5.'],
    [{ type: 'widgetRendered' }, noBrowserReason],
  ])('leaves unmeasured what %j does not measure', async (assertion, reason) => {
    expect(await judgeAssertion(not(assertion), evidence)).toEqual({
      state: 'unmeasured',
      reason: `not: ${assertion.type}: ${reason}`,
    });
  });

  it.each([
    [{ type: 'looksNice' }],
    [{ type: 'toolNeverCalled' }],
    [{ type: 'toolResultMatches', pattern: '(' }],
    [{ type: 'responseMatches', pattern: '(a+)+' }],
    [{ type: 'toolResultEquals', value: 1, path: 'a' }],
    [{ type: 'toolResultMatchesSchema', schema: { type: 'objekt' } }],
    [not({ type: 'noToolErrors' })],
    [{ type: 'noEndingQuestion', role: 'advisory' }],
    [{ type: 'noToolErrors', role: 'advisory' }],
    ['noToolErrors'],
  ])('fails around %j, which cannot be judged', async (assertion) => {
    expect((await judgeAssertion({ type: 'not', assertion }, evidence)).state).toBe('failed');
  });
});

describe('judgeAssertion on the role of a check', () => {
  it.each([
    [{ type: 'noToolErrors', role: 'gating' }],
    [{ type: 'noToolErrors', role: 'advisory' }],
    [{ type: 'noToolErrors', role: 'advisory', severity: 'warn' }],
    [{ type: 'noEndingQuestion', role: 'advisory' }],
  ])('passes %j', async (check) => {
    expect((await judgeAssertion(check, evidence)).state).toBe('passed');
  });

  it.each([
    [{ type: 'noToolErrors', role: 'nice' }, 'role: '],
    [{ type: 'noToolErrors', severity: 'warn' }, 'severity: `severity` needs `role: advisory`.'],
    [{ type: 'noEndingQuestion' }, 'role: `noEndingQuestion` is a heuristic and cannot gate; write `role: advisory`.'],
    [{ type: 'noEndingQuestion', role: 'gating' }, 'role: `noEndingQuestion` is a heuristic and cannot gate'],
  ])('fails %j', async (check, problem) => {
    const { state, reason } = await judgeAssertion(check, evidence);
    expect(state).toBe('failed');
    expect(reason).toContain(`${check.type}: the predicate is malformed: ${problem}`);
  });

  it.each([
    ['Five.', 'passed'],
    ['Five.\nIs that all?', 'failed'],
    ['Is that all?\nFive.', 'passed'],
    ['', 'passed'],
  ])('judges noEndingQuestion by the last line of %j: %s', async (message, state) => {
    const check = { type: 'noEndingQuestion', role: 'advisory' };
    expect((await judgeAssertion(check, createEvidence({ finalAssistantMessage: message }))).state).toBe(state);
  });
});

describe('judgeAssertion on the distance of a response', () => {
  const judge = async (message: string, fields: object) => {
    const check = { type: 'responseCloseTo', maxDistance: 0.25, ...fields };
    return await judgeAssertion(check, createEvidence({ finalAssistantMessage: message }));
  };

  it.each([
    ['sitting', { reference: 'kitten', maxDistance: 3 / 7 }, 'passed'],
    ['sitting', { reference: 'kitten', maxDistance: 0.42 }, 'failed'],
    ['FIVE', { reference: 'five', maxDistance: 0 }, 'passed'],
    ['FIVE', { reference: 'five', caseSensitive: true }, 'failed'],
    [' five\n apples', { reference: 'five apples', maxDistance: 0 }, 'failed'],
    [' five\n apples', { reference: 'five apples', maxDistance: 0, normalizeWhitespace: true }, 'passed'],
    ['😀a', { reference: '😁a', maxDistance: 0.5 }, 'passed'],
    ['', { reference: 'five', maxDistance: 0.9 }, 'failed'],
    ['five', { reference: ' ', normalizeWhitespace: true, maxDistance: 1 }, 'failed'],
    ['five', { reference: 'five', maxDistance: 1.5 }, 'failed'],
  ])('judges %j by %j: %s', async (message, fields, state) => {
    expect((await judge(message, fields)).state).toBe(state);
  });

  it('says how far a response is', async () => {
    expect((await judge('sitting', { reference: 'kitten' })).reason).toBe(
      'responseCloseTo: the final assistant message is "sitting", at a distance of 0.429 from "kitten"; the limit is 0.25.',
    );
  });

  it('compares 4,000,000 pairs of characters and does not measure more', async () => {
    expect((await judge('a'.repeat(2000), { reference: 'b'.repeat(2000) })).state).toBe('failed');
    expect((await judge('a'.repeat(2001), { reference: 'b'.repeat(2000) })).state).toBe('unmeasured');
  });
});
