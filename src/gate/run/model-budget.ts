import { ModelError } from '../../base/errors.ts';
import { computeCost, listUnmeasured, type ModelPrice } from '../../model/cost.ts';
import type { Budgets } from '../../model/policy.ts';
import { describeSource, type Sourced, type NamedRule } from '../../model/source.ts';
import { addUsage, type ModelUsage, noModelUsage } from '../../model/usage.ts';
import { formatModelName } from '../../models/model-name.ts';
import { FilteredError } from '../../models/filtered-error.ts';
import type { ModelAnswer, ModelSource } from '../../models/language-model.ts';
import { measureUsage } from '../../models/usage.ts';

type SpendingBudgets = Pick<Budgets, 'modelCalls' | 'tokens' | 'cost'>;

/** Limits what the calls of a suite may use together, over all its rounds. */
export interface ModelBudget {
  /**
   * Admits one more call.
   *
   * @throws {ModelError} `over-budget` if a budget is used up
   */
  begin(): void;
  add(model: string, answer: ModelAnswer): void;
}

export function createModelBudget(
  budgets: SpendingBudgets,
  { prices, currency }: { prices: ReadonlyArray<NamedRule<ModelPrice>>; currency: string },
): ModelBudget {
  const used = new Map<string, ModelUsage>();
  let calls = 0;
  const refuse = (name: string, { value, source }: Sourced<number>, unit: string) => {
    const message = `The budget ${name} is ${value}${unit} (${describeSource(source)}), and it is used up.`;
    return new ModelError(message, { kind: 'over-budget', hint: `Raise \`budgets.${name}\` in the policy.` });
  };
  // The gate cannot keep a budget if it does not know the usage.
  const refuseUnknown = (name: string, gaps: readonly string[]) =>
    new ModelError(`The budget ${name} cannot be kept: ${gaps.join('; ')}.`, { kind: 'over-budget' });
  return {
    begin: () => {
      const { modelCalls, tokens, cost } = budgets;
      if (modelCalls !== null && calls >= modelCalls.value) throw refuse('modelCalls', modelCalls, ' calls');
      const spending = [...used].map(([model, usage]) => ({ model, usage }));
      if (tokens !== null) {
        const { inputTokens, outputTokens } = [...used.values()].reduce(addUsage, noModelUsage);
        if (inputTokens + outputTokens >= tokens.value) throw refuse('tokens', tokens, '');
        const gaps = listUnmeasured(spending);
        if (gaps.length > 0) throw refuseUnknown('tokens', gaps);
      }
      if (cost !== null) {
        const { amount, gaps } = computeCost(spending, prices);
        if (amount === null) throw refuseUnknown('cost', gaps);
        if (amount >= cost.value) throw refuse('cost', cost, ` ${currency}`);
      }
      calls += 1;
    },
    add: (model, answer) => {
      used.set(model, addUsage(used.get(model) ?? noModelUsage, measureUsage(answer)));
    },
  };
}

/** Limits the calls of a source to the budget of the suite that is running. */
export function limitSpending(source: ModelSource, currentBudget: () => ModelBudget): ModelSource {
  return {
    findProblem: (request) => source.findProblem(request),
    openSession: async (request) => {
      const session = await source.openSession(request);
      return {
        model: session.model,
        answer: async (call, options) => {
          const budget = currentBudget();
          budget.begin();
          const add = (answer: ModelAnswer) => budget.add(formatModelName(request.model), answer);
          try {
            const answer = await session.answer(call, options);
            add(answer);
            return answer;
          } catch (error) {
            if (error instanceof FilteredError) add(error.answer);
            throw error;
          }
        },
      };
    },
  };
}
