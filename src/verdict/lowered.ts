import { formatDays, formatDuration } from '../base/time.ts';
import {
  type Budgets,
  defaultCalibrationAge,
  defaultJudgeAgreement,
  defaultMinimum,
  defaultModelCalls,
  defaultRecordingAge,
  type FlakyEffect,
  type InconclusiveEffect,
  type PolicyLayer,
} from '../model/policy.ts';
import type { Sourced } from '../model/source.ts';
import { formatMinimumPassRate } from '../model/rate.ts';

/** A requirement of one policy that another policy lowers. */
export interface Lowered {
  kind: 'minima' | 'quarantine';
  /** A noun for the lowered requirement: `the minimum pass rate`. */
  what: string;
  before: string;
  after: string;
  /** The source of the stricter requirement. */
  source: string;
}

/** The smaller the number, the stricter. */
const effectRanks: Record<InconclusiveEffect, number> = { fail: 0, warn: 1, pass: 2 };
const flakyRanks: Record<FlakyEffect, number> = { fail: 0, report: 1, pass: 2 };

/**
 * Lists the requirements of the first policy of a suite that the second one lowers. Both name cases by their ids. Leaves out required cases:
 * a policy cannot say whether a case still exists.
 */
export function listLowered(before: PolicyLayer, after: PolicyLayer): Lowered[] {
  return [...listRates(before, after), ...listEffects(before, after), ...listQuarantine(before, after)];
}

function listRates(before: PolicyLayer, after: PolicyLayer): Lowered[] {
  const models = [...new Set([...before.models, ...after.models].map(({ name }) => name))];
  return [
    ...compareRate(
      'the minimum pass rate',
      before.minimumPassRate ?? defaultMinimum,
      after.minimumPassRate ?? defaultMinimum,
    ),
    ...before.tags.flatMap((rate) =>
      compareRate(`the minimum of the tag ${JSON.stringify(rate.name)}`, rate, findRate(after.tags, rate.name)),
    ),
    ...models.flatMap((name) => {
      const was = findModelRate(before, name);
      return was === null
        ? []
        : compareRate(`the minimum of the model ${JSON.stringify(name)}`, was, findModelRate(after, name));
    }),
    ...before.cases.flatMap((rate) =>
      compareRate(`the minimum of the case ${JSON.stringify(rate.name)}`, rate, findRate(after.cases, rate.name)),
    ),
    ...(before.confidence === null ? [] : compareRate('the confidence', before.confidence, after.confidence)),
  ];
}

/** Finds the minimum of a model: its own, else the suite's, unless models are pooled. */
function findModelRate({ models, poolModels, minimumPassRate }: PolicyLayer, name: string): Sourced<number> | null {
  return findRate(models, name) ?? (poolModels?.value === true ? null : (minimumPassRate ?? defaultMinimum));
}

function findRate(rates: PolicyLayer['tags'], name: string): Sourced<number> | null {
  return rates.find((rate) => rate.name === name) ?? null;
}

function compareRate(what: string, before: Sourced<number>, after: Sourced<number> | null): Lowered[] {
  if (after !== null && after.value >= before.value) return [];
  const shown = after === null ? 'none' : formatMinimumPassRate(after.value);
  return [{ kind: 'minima', what, before: formatMinimumPassRate(before.value), after: shown, source: before.source }];
}

function listEffects(before: PolicyLayer, after: PolicyLayer): Lowered[] {
  const isFlakyFailed = (after.flaky?.value ?? 'fail') === 'fail';
  const retries = ({ retryFailed }: PolicyLayer) => rank(retryFailed, 0, Number);
  const effects: Array<[string, (layer: PolicyLayer) => Ranked]> = [
    ['`onInconclusive`', (layer) => rank(layer.onInconclusive, 'fail', (value) => effectRanks[value])],
    ['`onNothingRun`', (layer) => rank(layer.onNothingRun, 'fail', (value) => effectRanks[value])],
    ['`reportOnly`', (layer) => rank(layer.reportOnly, false, Number)],
    ['`poolModels`', (layer) => rank(layer.poolModels, false, Number)],
    ['`recordings.maximumAge`', (layer) => rankAge(layer.maximumRecordingAgeMs ?? defaultRecordingAge)],
    ['`judges.minimumAgreement`', rankJudgeAgreement],
    ['`judges.maximumAge`', (layer) => rankAge(layer.maximumCalibrationAgeMs ?? defaultCalibrationAge)],
    // A result about these cases need not hold for the tasks that they are a sample of.
    ['`confidenceOver`', (layer) => rank(layer.confidenceOver, 'tasks', (value) => (value === 'tasks' ? 0 : 1))],
    // The more minimums share the error, the less often each fails.
    [
      '`confidenceFamily`',
      (layer) => rank(layer.confidenceFamily, 'minimum', (value) => (value === 'minimum' ? 0 : 1)),
    ],
    ['`flaky`', (layer) => rank(layer.flaky, 'fail', (value) => flakyRanks[value])],
    // Further rounds change a result only if a flaky case does not count as failed.
    ...(isFlakyFailed ? [] : [['`retryFailed`', retries] satisfies [string, typeof retries]]),
  ];
  return [
    ...effects.flatMap(([what, read]) => compareRanks('minima', what, [read(before), read(after)])),
    ...listBudgets(before.budgets, after.budgets),
  ];
}

function rankAge({ value, source }: Sourced<number>): Ranked {
  return { rank: value, shown: formatDays(value), source };
}

function rankJudgeAgreement({ minimumJudgeAgreement }: PolicyLayer): Ranked {
  const { value, source } = minimumJudgeAgreement ?? defaultJudgeAgreement;
  return { rank: -value, shown: String(value), source };
}

interface Ranked {
  rank: number;
  shown: string;
  source: string;
}

function rank<T extends string | number | boolean>(
  written: Sourced<T> | null,
  byDefault: T,
  rankOf: (value: T) => number,
): Ranked {
  const { value, source } = written ?? { value: byDefault, source: 'default' };
  return { rank: rankOf(value), shown: String(value), source };
}

function compareRanks(kind: Lowered['kind'], what: string, [was, is]: readonly [Ranked, Ranked]): Lowered[] {
  if (is.rank <= was.rank) return [];
  return [{ kind, what, before: was.shown, after: is.shown, source: was.source }];
}

function listBudgets(before: Budgets, after: Budgets): Lowered[] {
  const budgets: Array<[string, keyof Budgets, (value: number) => string]> = [
    ['tokens', 'tokens', String],
    ['modelCalls', 'modelCalls', String],
    ['cost', 'cost', String],
    ['wallTime', 'wallTimeMs', formatDuration],
    ['p95IterationTime', 'p95IterationMs', formatDuration],
  ];
  const spent = budgets.flatMap(([name, key, format]): Lowered[] => {
    const byDefault = key === 'modelCalls' ? defaultModelCalls : null;
    const [was, is] = [before[key] ?? byDefault, after[key] ?? byDefault];
    if (was === null || (is !== null && is.value <= was.value)) return [];
    const shown = is === null ? 'none' : format(is.value);
    return [
      { kind: 'minima', what: `the budget \`${name}\``, before: format(was.value), after: shown, source: was.source },
    ];
  });
  // Unlike the others, this budget allows something: without it, every iteration must have a result.
  const [was, is] = [before.infrastructureErrors?.value ?? 0, after.infrastructureErrors?.value ?? 0];
  if (is <= was) return spent;
  const what = 'the budget `infrastructureErrors`';
  const source = before.infrastructureErrors?.source ?? 'default';
  return [...spent, { kind: 'minima', what, before: String(was), after: String(is), source }];
}

function listQuarantine(before: PolicyLayer, after: PolicyLayer): Lowered[] {
  const stale = ({ onStaleQuarantine }: PolicyLayer) =>
    rank(onStaleQuarantine, 'warn', (value) => (value === 'fail' ? 0 : 1));
  const entries = after.quarantine.flatMap((entry): Lowered[] => {
    const earlier = before.quarantine.find((each) => each.case === entry.case);
    if (earlier !== undefined && entry.expires <= earlier.expires) return [];
    return [
      {
        kind: 'quarantine',
        what: `the quarantine of the case ${JSON.stringify(entry.case)}`,
        before: earlier === undefined ? 'none' : `until ${earlier.expires}`,
        after: `until ${entry.expires}`,
        source: entry.source,
      },
    ];
  });
  return [...entries, ...compareRanks('quarantine', '`onStaleQuarantine`', [stale(before), stale(after)])];
}
