import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { matchCalls } from '../../src/engine/match.ts';
import { defaultMatchOptions, type MatchOptions } from '../../src/cases/case.ts';
import type { ToolCall } from '../../src/model/run.ts';

function call(toolName: string, args: Record<string, unknown> = {}): ToolCall {
  return { toolName, arguments: args };
}

function passes(expected: ToolCall[], actual: ToolCall[], options: Partial<MatchOptions> = {}): boolean {
  return matchCalls(expected, actual, { ...defaultMatchOptions, ...options }).passed;
}

const [a, b, c] = [call('a'), call('b'), call('c')];

describe('matchCalls', () => {
  it('passes a turn that expects nothing, whatever was called', () => {
    expect(passes([], [a, b])).toBe(true);
  });

  it('fails a turn that expects nothing when it has more extras than allowed', () => {
    expect(passes([], [a], { extraToolCalls: 0 })).toBe(false);
    expect(passes([], [a], { extraToolCalls: 1 })).toBe(true);
  });

  it('fails when something was expected and nothing was called', () => {
    expect(matchCalls([a], [], defaultMatchOptions)).toEqual({
      passed: false,
      missing: [a],
      unexpected: [],
      argumentMismatches: [],
    });
  });

  it('does not let one call count twice', () => {
    expect(passes([a, a], [a])).toBe(false);
    expect(passes([a, a], [a, a])).toBe(true);
  });

  it.each([
    ['any', [b, a], true],
    ['any', [c, b, c, a], true],
    ['in-order', [b, a], false],
    ['in-order', [c, a, c, b, c], true],
    ['exact', [a, b, c], true],
    ['exact', [c, a, b], false],
    ['exact', [b, a], false],
  ] as const)('in order "%s" judges a then b against %j: %s', (toolCallOrder, actual, passed) => {
    expect(passes([a, b], [...actual], { toolCallOrder })).toBe(passed);
  });

  it('limits extras independently of the order', () => {
    expect(passes([a], [a, b], { toolCallOrder: 'exact', extraToolCalls: 0 })).toBe(false);
    expect(passes([a], [b, a, c], { toolCallOrder: 'in-order', extraToolCalls: 1 })).toBe(false);
    expect(passes([a], [b, a, c], { toolCallOrder: 'in-order', extraToolCalls: 2 })).toBe(true);
  });

  it('pairs greedily, even if a search would find a better pairing', () => {
    const expected = [call('a'), call('a', { x: 1 })];
    expect(passes(expected, [call('a', { x: 1 }), call('a', { x: 2 })])).toBe(false);
    expect(passes(expected.toReversed(), [call('a', { x: 1 }), call('a', { x: 2 })])).toBe(true);
  });

  it('distinguishes a missing call from one with other arguments and from an unexpected one', () => {
    const actual = [call('a', { x: 2 }), call('c')];
    expect(matchCalls([call('a', { x: 1 }), b], actual, defaultMatchOptions)).toEqual({
      passed: false,
      missing: [b],
      unexpected: [c],
      argumentMismatches: [{ expected: call('a', { x: 1 }), actual: call('a', { x: 2 }) }],
    });
  });

  it('does not blame the arguments of a call in the wrong place', () => {
    expect(matchCalls([a], [b, a], { ...defaultMatchOptions, toolCallOrder: 'exact' })).toEqual({
      passed: false,
      missing: [a],
      unexpected: [b, a],
      argumentMismatches: [],
    });
  });

  it('compares only names if arguments are ignored', () => {
    expect(passes([call('a', { x: 1 })], [call('a', { x: 2 })], { arguments: 'ignore' })).toBe(true);
  });

  const calls = fc.array(
    fc.record({
      toolName: fc.constantFrom('a', 'b', 'c'),
      arguments: fc.dictionary(fc.constantFrom('x', 'y'), fc.integer({ min: 0, max: 2 })),
    }),
    { maxLength: 6 },
  );
  const orders = fc.constantFrom('any', 'in-order', 'exact') satisfies fc.Arbitrary<MatchOptions['toolCallOrder']>;

  it('passes exactly what was expected under every order, and with no extras allowed', () => {
    fc.assert(
      fc.property(calls, orders, (expected, toolCallOrder) => {
        expect(
          passes(expected, structuredClone(expected), { toolCallOrder, arguments: 'exact', extraToolCalls: 0 }),
        ).toBe(true);
      }),
    );
  });

  it('accounts for every call once, and passes in-order and exact only what any passes with exact arguments', () => {
    fc.assert(
      fc.property(calls, calls, orders, (expected, actual, toolCallOrder) => {
        const options: MatchOptions = { toolCallOrder, extraToolCalls: 'unlimited', arguments: 'exact' };
        const result = matchCalls(expected, actual, options);
        const paired = expected.length - result.missing.length - result.argumentMismatches.length;
        expect(paired + result.argumentMismatches.length + result.unexpected.length).toBe(actual.length);
        expect(result.passed).toBe(paired === expected.length);
        if (result.passed) expect(matchCalls(expected, actual, { ...options, toolCallOrder: 'any' }).passed).toBe(true);
      }),
    );
  });
});
