import { z } from 'zod';
import { fraction } from '../quantities.ts';
import { formatMinimumPassRate } from '../rate.ts';
import { named, type NamedRule, type Sourced } from '../source.ts';
import { byModel, passRate, text } from '../written-values.ts';
import { compareValues, defineListRule, defineRule, type Locate, type Lowered, type Pair } from './define-rule.ts';

const strictness = { stricter: 'greater', format: formatMinimumPassRate } as const;

const minimumPassRate = defineRule('minimumPassRate', {
  written: passRate,
  value: fraction,
  default: 1,
  strictness: { ...strictness, what: 'the minimum pass rate' },
  docs: '90% # of the iterations of every suite; default 100%',
});

type Rates = ReadonlyArray<NamedRule<number>>;

/** The parts of the rules on minimums that are lists. */
const ratesByName = {
  item: named(fraction),
  nameOf: ({ name }: { name: string }) => name,
  build: (written: Readonly<Record<string, number>>, locate: Locate) =>
    Object.entries(written).map(([name, value]) => ({ name, value, source: locate([name], 'key') })),
};

const compareRate = (noun: string, name: string, rates: Pair<Sourced<number> | null>): Lowered[] =>
  compareValues({ ...strictness, what: `the minimum of the ${noun} ${JSON.stringify(name)}` }, rates);

const compareRates =
  (noun: string) =>
  ([before, after]: Pair<Rates>) =>
    before.flatMap((rate) => compareRate(noun, rate.name, [rate, findRate(after, rate.name)]));

function findRate(rates: Rates, name: string): Sourced<number> | null {
  return rates.find((rate) => rate.name === name) ?? null;
}

const tags = defineListRule('tags', {
  written: z.record(text, passRate),
  description: 'Minimum pass rates of the cases with a tag, together.',
  reported: 'Minimum pass rates of the cases with a tag, together.',
  ...ratesByName,
  listLowered: compareRates('tag'),
  docs: '{ smoke: 100% } # of the cases with this tag together, in every suite that has some',
});

/** The rules that decide the minimum of a model. */
interface ModelMinimums {
  models: Rates;
  poolModels: Sourced<boolean> | null;
  minimumPassRate: Sourced<number> | null;
}

/** Finds the minimum of a model: its own, else the suite's, unless models are pooled. */
function findModelRate(layer: ModelMinimums, name: string): Sourced<number> | null {
  const shared = layer.minimumPassRate ?? minimumPassRate.fallback;
  return findRate(layer.models, name) ?? (layer.poolModels?.value === true ? null : shared);
}

const models = defineListRule('models', {
  written: byModel(passRate),
  description: 'Minimum pass rates of the cases with a model, together, by `provider/name`.',
  reported: 'Minimum pass rates of the cases with a model, together.',
  ...ratesByName,
  listLowered: ([before, after], [earlier, later]: Pair<ModelMinimums>) =>
    [...new Set([...before, ...after].map(({ name }) => name))].flatMap((name) =>
      compareRate('model', name, [findModelRate(earlier, name), findModelRate(later, name)]),
    ),
  docs: '{ anthropic/claude-haiku-4.5: 80% } # of the cases with this model together, in every suite that uses it',
});

const poolModels = defineRule('poolModels', {
  written: z.boolean(),
  description:
    'Whether the models of a suite share one pass rate. By default each of several models must reach the minimum of the suite.',
  reported: 'Whether the models of a suite share one rate; else the minimum of the suite is required of each, too.',
  default: false,
  strictness: { stricter: 'smaller' },
  docs: 'false # the default: each of several models must reach the minimum of the suite; true: all of them together',
});

const cases = defineListRule('cases', {
  scope: 'suite',
  written: z.record(text, passRate),
  description: 'Minimum pass rates of single cases, by id or title.',
  reported: 'Minimum pass rates of single cases, by id.',
  ...ratesByName,
  listLowered: compareRates('case'),
  docs: '{ sum: 80% }',
});

const required = defineListRule('required', {
  scope: 'suite',
  written: z.array(text),
  description: 'Ids or titles of cases that must pass whatever the pass rate.',
  reported: 'Cases that the policy requires, by id.',
  item: named(z.literal(true)),
  nameOf: ({ name }) => name,
  build: (written, locate) =>
    written.map((name, index) => ({ name, value: true as const, source: locate([index], 'value') })),
  // A policy cannot say whether a case still exists, so the plan compares required cases.
  docs: '[echo]',
});

export const minimumRules = [minimumPassRate, tags, models, poolModels, cases, required];
