import { describe, expect, it } from 'vitest';
import { formatMoney } from '../../src/base/text.ts';
import { computeCost } from '../../src/model/cost.ts';
import { addUsage, type ModelUsage, noModelUsage } from '../../src/model/usage.ts';

const prices = [
  { name: 'a/small', value: { input: 1, cachedInput: 0.1, output: 5 } },
  { name: 'b/large', value: { input: 3, cachedInput: 3, output: 15 } },
];
const spend = (model: string | null, usage: Partial<ModelUsage>) => ({
  model,
  usage: { ...noModelUsage, modelCalls: 1, ...usage },
});

describe('computeCost', () => {
  it('prices input, cached input and output apart, for each model', () => {
    const small = spend('a/small', { inputTokens: 1_000_000, cachedInputTokens: 400_000, outputTokens: 20_000 });
    expect(computeCost([small], prices)).toEqual({ amount: 0.6 + 0.04 + 0.1, gaps: [] });
    const large = spend('b/large', { inputTokens: 1000, cachedInputTokens: 500, outputTokens: 100 });
    expect(computeCost([small, large], prices)).toEqual({ amount: 0.7445, gaps: [] });
  });

  it('comes to the same amount in any order, without the noise of fractions', () => {
    const parts = [0.1, 0.2, 0.3].map((share) => spend('a/small', { inputTokens: share * 1e6 }));
    expect(computeCost(parts, prices).amount).toBe(0.6);
    expect(computeCost(parts.toReversed(), prices).amount).toBe(0.6);
  });

  it('costs nothing where recordings answered, with a price or without', () => {
    const replayed = { modelCalls: 0, replayedCalls: 9 };
    expect(computeCost([spend('a/small', replayed), spend('c/other', replayed)], prices)).toEqual({
      amount: 0,
      gaps: [],
    });
    expect(computeCost([{ model: null, usage: null }], [])).toEqual({ amount: 0, gaps: [] });
  });

  it.each([
    ['has no price', spend('c/other', { inputTokens: 1 }), 'no price for "c/other"; add it to `prices`'],
    ['is not known', spend(null, { inputTokens: 1 }), 'the service does not say which model was called'],
    [
      'did not report its tokens',
      spend('a/small', { modelCalls: 2, unmeasuredCalls: 2 }),
      'the provider of "a/small" did not report the tokens of 2 calls',
    ],
  ])('is unknown where a model that was called %s', (_, part, gap) => {
    expect(computeCost([spend('b/large', { inputTokens: 10 }), part], prices)).toEqual({ amount: null, gaps: [gap] });
  });

  it('prices what is written to a cache apart, or as input without a price of its own', () => {
    const written = { inputTokens: 1_000_000, cachedInputTokens: 400_000, cacheWriteTokens: 200_000 };
    const value = { input: 1, cachedInput: 0.1, cacheWrite: 1.25, output: 5 };
    const cost = (price: (typeof prices)[number]['value']) =>
      computeCost([spend('a/small', written)], [{ name: 'a/small', value: price }]).amount;
    expect(cost(value)).toBe(0.4 + 0.04 + 0.25);
    expect(cost({ input: 1, cachedInput: 0.1, output: 5 })).toBe(0.6 + 0.04);
  });

  it('adds up what is written to a cache, and says nothing of it where nothing is', () => {
    const one = { ...noModelUsage, cacheWriteTokens: 20 };
    expect(addUsage(one, one).cacheWriteTokens).toBe(40);
    expect(addUsage(one, noModelUsage).cacheWriteTokens).toBe(20);
    expect(addUsage(noModelUsage, noModelUsage)).not.toHaveProperty('cacheWriteTokens');
  });

  it('prices at most all of the input as cached', () => {
    const odd = spend('a/small', { inputTokens: 10, cachedInputTokens: 1_000_000 });
    expect(computeCost([odd], prices).amount).toBe(0.000001);
  });
});

describe('formatMoney', () => {
  it.each([
    [0, '0.00 USD'],
    [12.345, '12.35 USD'],
    [1, '1.00 USD'],
    [0.5, '0.50 USD'],
    [0.0423, '0.042 USD'],
    [0.00042, '0.00042 USD'],
    [1e-9, '0.000000001 USD'],
  ])('prints %d as %s', (amount, text) => {
    expect(formatMoney(amount, 'USD')).toBe(text);
  });
});
