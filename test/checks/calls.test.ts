import { describe, expect, it } from 'vitest';
import { judgeAssertion } from '../../src/engine/judge-assertion.ts';
import { createEvidence, createToolResult } from '../support/factories/evidence-factory.ts';

const call = (toolName: string, args: Record<string, unknown> = {}) => ({ toolName, arguments: args });
const evidence = createEvidence({ toolCalls: [call('login'), call('search', { q: 'a' }), call('search', { q: 'a' })] });
const nothing = createEvidence();

describe('judgeAssertion on the order and the number of calls', () => {
  it.each([
    [{ type: 'toolCalledBefore', toolName: 'login', beforeToolName: 'search' }, 'search was called after login.'],
    [
      { type: 'toolCalledBefore', toolName: 'login', beforeToolName: 'delete' },
      'delete was never called, so nothing had to come before it.',
    ],
    [{ type: 'toolCallCountUnder', count: 4 }, 'the transcript has 3 calls; the limit is under 4.'],
    [
      { type: 'toolCallCountUnder', count: 2, toolName: 'login' },
      'the transcript has 1 call of login; the limit is under 2.',
    ],
    [{ type: 'onlyToolsCalled', toolNames: ['search', 'login'] }, 'only search, login was called, as expected.'],
    [{ type: 'noRepeatedIdenticalCall', toolName: 'login', role: 'advisory' }, 'no call repeated the one before it.'],
  ])('passes %j', async (check, reason) => {
    expect(await judgeAssertion(check, evidence)).toEqual({ state: 'passed', reason: `${check.type}: ${reason}` });
  });

  it.each([
    [
      { type: 'toolCalledBefore', toolName: 'search', beforeToolName: 'login' },
      'login was called before any call of search.',
    ],
    [
      { type: 'toolCalledBefore', toolName: 'login', beforeToolName: 'login' },
      'login was called before any call of login.',
    ],
    [{ type: 'toolCallCountUnder', count: 3 }, 'the transcript has 3 calls; the limit is under 3.'],
    [{ type: 'onlyToolsCalled', toolNames: ['login'] }, 'search was called, expected only login.'],
    [{ type: 'onlyToolsCalled', toolNames: [] }, 'login, search was called, expected no tool.'],
    [{ type: 'noRepeatedIdenticalCall', role: 'advisory' }, 'search was called with {"q":"a"} twice in a row.'],
  ])('fails %j', async (check, reason) => {
    expect(await judgeAssertion(check, evidence)).toEqual({ state: 'failed', reason: `${check.type}: ${reason}` });
  });

  it('takes no call for the measurement that it is', async () => {
    const judge = async (check: object) => (await judgeAssertion(check, nothing)).state;
    expect(await judge({ type: 'toolCallCountUnder', count: 1 })).toBe('passed');
    expect(await judge({ type: 'onlyToolsCalled', toolNames: [] })).toBe('passed');
    expect(await judge({ type: 'toolLatencyUnder', ms: 1 })).toBe('passed');
    expect(await judge({ type: 'toolResultSizeUnder', maxBytes: 1 })).toBe('passed');
    expect(await judge({ type: 'toolResultContains', needle: 'a' })).toBe('failed');
    expect(await judge({ type: 'toolResultMatchesSchema', schema: true })).toBe('failed');
  });

  it('takes no call out from between two for a repetition', async () => {
    const toolCalls = [call('a'), call('b'), call('a')];
    const check = { type: 'noRepeatedIdenticalCall', toolName: 'a', role: 'advisory' };
    expect((await judgeAssertion(check, createEvidence({ toolCalls }))).state).toBe('passed');
  });
});

describe('judgeAssertion on results that were not captured', () => {
  const cutOff = createEvidence({ toolCalls: [call('get-sum'), call('get-sum')], toolResults: [createToolResult()] });

  it.each([
    [{ type: 'toolResultContains', needle: 'nothing' }],
    [{ type: 'toolResultMatchesSchema', schema: true }],
    [{ type: 'toolLatencyUnder', ms: 13 }],
    [{ type: 'toolResultSizeUnder', maxBytes: 101 }],
  ])('does not measure %j', async (check) => {
    const json = { ...cutOff, toolResults: [createToolResult({ text: '5' })] };
    expect(await judgeAssertion(check, json)).toEqual({
      state: 'unmeasured',
      reason: `${check.type}: the transcript has no result of 1 call.`,
    });
  });

  it.each([
    [{ type: 'toolResultContains', needle: 'sum' }, 'passed'],
    [{ type: 'toolLatencyUnder', ms: 12 }, 'failed'],
    [{ type: 'toolResultSizeUnder', maxBytes: 100 }, 'failed'],
  ])('decides %j where the captured result does', async (check, state) => {
    expect((await judgeAssertion(check, cutOff)).state).toBe(state);
  });

  it('does not measure a size or a latency that nothing measured', async () => {
    const unknown = createEvidence({ toolResults: [createToolResult({ sizeBytes: null, latencyMs: null })] });
    expect((await judgeAssertion({ type: 'toolResultSizeUnder', maxBytes: 9 }, unknown)).reason).toBe(
      'toolResultSizeUnder: the size of the result of get-sum was not measured.',
    );
    expect((await judgeAssertion({ type: 'toolLatencyUnder', ms: 9 }, unknown)).state).toBe('unmeasured');
  });
});
