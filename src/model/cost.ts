import { z } from 'zod';
import { formatCount } from '../base/text.ts';
import { money } from './quantities.ts';
import { joinJudges, type JudgeUsage, judgeUsageSchema, type ModelUsage } from './usage.ts';

const tokensPerPrice = 1_000_000;

export const modelPriceSchema = z.object({
  input: money,
  cachedInput: money.describe('The price of input tokens that the provider read from its cache.'),
  cacheWrite: money
    .exactOptional()
    .describe('The price of input tokens that the provider wrote to its cache; absent for that of `input`.'),
  output: money,
});

/** The price of a million tokens, in the currency of the policy. */
export type ModelPrice = z.infer<typeof modelPriceSchema>;

/** An ISO 4217 code. */
export const currencySchema = z.string().regex(/^[A-Z]{3}$/);

/** The currency of printed amounts if the policy names none. */
export const defaultCurrency = 'USD';

/** The usage of calls to one model; `model` is null if only the service knows the model. */
export interface ModelSpending {
  model: string | null;
  usage: ModelUsage | null;
}

export const judgeSpendingSchema = judgeUsageSchema.extend({
  cost: money.nullable().describe('By the prices of the policy; null where that is not known.'),
});

/** The usage and the cost of one judge. */
export type JudgeSpending = z.infer<typeof judgeSpendingSchema>;

/** Adds up the usage of each judge and computes its cost. */
export function priceJudges(judges: readonly JudgeUsage[], prices: Parameters<typeof computeCost>[1]): JudgeSpending[] {
  return joinJudges(judges).map((judge) => ({ ...judge, cost: computeCost([judge], prices).amount }));
}

export interface Cost {
  /** Null if a part of the cost is unknown. */
  amount: number | null;
  /** Why the cost is unknown, and how to fix that; one clause each. */
  gaps: string[];
}

/**
 * Computes the cost of model calls from tokens and prices. Recorded answers cost nothing. The cost is unknown if a called model has no
 * price, or if a provider did not report its tokens. The order of the parts makes no difference.
 */
export function computeCost(
  spending: readonly ModelSpending[],
  prices: ReadonlyArray<{ name: string; value: ModelPrice }>,
): Cost {
  const byModel = Map.groupBy(spending, ({ model }) => model);
  const costs = [...byModel]
    .toSorted(([a], [b]) => ((a ?? '') < (b ?? '') ? -1 : 1))
    .map(([model, parts]) => {
      const calls = parts.flatMap(({ usage }) => (usage === null ? [] : [usage])).filter(isPaid);
      if (calls.length === 0) return { amount: 0, gaps: [] };
      if (model === null) return { amount: null, gaps: ['the service does not say which model was called'] };
      const price = prices.find(({ name }) => name === model)?.value;
      return priceCalls(calls, { name: JSON.stringify(model), price });
    });
  const gaps = costs.flatMap((cost) => cost.gaps);
  const amount = costs.reduce((sum, cost) => sum + (cost.amount ?? 0), 0);
  return { amount: gaps.length > 0 ? null : roundMoney(amount), gaps };
}

/** Names the models that did not report tokens, and the number of such calls; one clause each. */
export function listUnmeasured(spending: readonly ModelSpending[]): string[] {
  const byModel = Map.groupBy(spending, ({ model }) => model);
  return [...byModel].flatMap(([model, parts]) => {
    const count = parts.reduce((sum, { usage }) => sum + (usage?.unmeasuredCalls ?? 0), 0);
    return count === 0 ? [] : [describeUnmeasured(model === null ? null : JSON.stringify(model), count)];
  });
}

function describeUnmeasured(name: string | null, count: number): string {
  const provider = name === null ? 'the provider' : `the provider of ${name}`;
  return `${provider} did not report the tokens of ${formatCount(count, 'call')}`;
}

function priceCalls(
  calls: readonly ModelUsage[],
  { name, price }: { name: string; price: ModelPrice | undefined },
): Cost {
  const sum = (key: keyof ModelUsage) => calls.reduce((total, usage) => total + (usage[key] ?? 0), 0);
  const unmeasured = sum('unmeasuredCalls');
  const gaps = [
    ...(price === undefined ? [`no price for ${name}; add it to \`prices\``] : []),
    ...(unmeasured > 0 ? [describeUnmeasured(name, unmeasured)] : []),
  ];
  if (price === undefined || gaps.length > 0) return { amount: null, gaps };
  const input = sum('inputTokens');
  const cached = Math.min(sum('cachedInputTokens'), input);
  const written = Math.min(sum('cacheWriteTokens'), input - cached);
  const amount =
    (input - cached - written) * price.input +
    cached * price.cachedInput +
    written * (price.cacheWrite ?? price.input) +
    sum('outputTokens') * price.output;
  return { amount: roundMoney(amount / tokensPerPrice), gaps: [] };
}

function isPaid({ modelCalls, inputTokens, outputTokens, unmeasuredCalls }: ModelUsage): boolean {
  return modelCalls + inputTokens + outputTokens + unmeasuredCalls > 0;
}

/** Rounds to nine decimals, which removes the noise of binary fractions. A budget that is reached exactly is not exceeded. */
function roundMoney(amount: number): number {
  return Math.round(amount * 1e9) / 1e9;
}
