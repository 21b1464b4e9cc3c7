import { describeError, ModelError } from '../base/errors.ts';
import { formatCount } from '../base/text.ts';
import { defaultMaxSteps } from '../model/case.ts';
import { describeSource } from '../model/source.ts';
import type { SuiteCase } from '../model/suite.ts';
import type { GatePlan } from './plan/plan.ts';
import type { PlannedModelCase, PlannedModels } from './plan/plan-models.ts';
import type { FileSuite } from './plan/plan-suites.ts';

/**
 * Says how often the prompts of a suite can call models at most, how much is recorded, and where the keys are. The count is that of a run
 * in which no recording fits and every prompt takes all of its steps.
 */
export function describeModels(
  { suite, requirements }: FileSuite,
  { models, nowMs }: Pick<GatePlan, 'models'> & { nowMs: number },
): string[] {
  const cases = suite.cases.filter((testCase) => countPrompts(testCase) > 0);
  if (models === null || cases.length === 0) return [];
  const { budgets, retryFailed, maximumRecordingAgeMs } = requirements;
  const calls = new Map<string, number>();
  for (const testCase of cases) {
    const name = testCase.model ?? '';
    calls.set(name, (calls.get(name) ?? 0) + countCalls(testCase) * (1 + retryFailed.value));
  }
  const problems = new Map([...calls.keys()].map((name) => [name, findProblem(models, name)]));
  const callable = models.mode === 'replay' ? [] : [...calls].filter(([name]) => problems.get(name) === null);
  const total = callable.reduce((sum, [, count]) => sum + count, 0);
  const recorded =
    models.mode === 'auto' || models.mode === 'replay'
      ? `, ${describeRecorded(cases, { suiteId: suite.id, models, oldestMs: nowMs - maximumRecordingAgeMs.value })}`
      : '';
  const names = callable.map(([name]) => name).join(', ');
  const ceiling = total === 0 ? 'no model calls' : `up to ${formatCount(total, 'model call')} with ${names}`;
  const limit = budgets.modelCalls;
  const cut =
    limit === null || limit.value >= total
      ? ''
      : `, at most ${limit.value} by budgets.modelCalls (${describeSource(limit.source)})`;
  return [
    `${suite.name}: ${ceiling}${cut}; recordings: ${models.mode}${recorded}.`,
    ...(models.mode === 'replay' ? [] : describeKeys(models, [...calls.keys()])),
  ];
}

function countPrompts({ steps }: SuiteCase): number {
  return steps.filter(({ step }) => step.kind === 'prompt').length;
}

function countCalls(testCase: SuiteCase): number {
  return testCase.runs * countPrompts(testCase) * (testCase.modelSettings.maxSteps ?? defaultMaxSteps);
}

function describeRecorded(
  cases: readonly SuiteCase[],
  { suiteId, models, oldestMs }: { suiteId: string; models: PlannedModels; oldestMs: number },
): string {
  const iterations = cases.flatMap(({ id, runs }) => {
    const planned = models.cases.find((item) => item.suiteId === suiteId && item.caseId === id);
    return Array.from({ length: runs }, (_, index) => readDate(planned, index + 1));
  });
  const dates = iterations.filter((date) => date !== null);
  const old = dates.filter((date) => date < oldestMs).length;
  const counted = `${dates.length} of ${formatCount(iterations.length, 'iteration')} recorded`;
  return old === 0 ? counted : `${counted}, ${old} too long ago`;
}

/** When an iteration was recorded; null where it was not. */
function readDate(planned: PlannedModelCase | undefined, iterationNumber: number): number | null {
  const iteration = planned?.recording?.iterations.get(iterationNumber);
  return iteration === undefined ? null : Date.parse(iteration.recordedAt);
}

function readProvider(name: string): string {
  return name.slice(0, name.indexOf('/')).toLowerCase();
}

/** Why a model cannot be called; null where it can. */
function findProblem({ providers }: PlannedModels, name: string): string | null {
  try {
    providers.find(readProvider(name));
    return null;
  } catch (error) {
    if (error instanceof ModelError) return describeError(error);
    throw error;
  }
}

/** One line for each provider: the name of what holds its key, and never the key. */
function describeKeys(models: PlannedModels, names: readonly string[]): string[] {
  return [...new Set(names.map(readProvider))].map((provider) => {
    const problem = findProblem(models, `${provider}/`);
    if (problem !== null) return `  ${problem}`;
    const { apiKey, keyVariable } = models.providers.find(provider);
    return apiKey === null ? `  ${provider} is called without a key.` : `  ${provider}: the key is in ${keyVariable}.`;
  });
}
