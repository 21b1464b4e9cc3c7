import { describeError, ModelError } from '../base/errors.ts';
import { formatCount } from '../base/text.ts';
import { isSameHost } from '../model/format-host.ts';
import { defaultMaxSteps } from '../cases/case.ts';
import { describeSource } from '../model/source.ts';
import type { Suite, SuiteCase } from '../cases/suite.ts';
import type { SurfaceFile } from '../model/surface.ts';
import { describeToolChanges } from '../models/provider-tools.ts';
import type { PlannedModelCase, PlannedModels } from './plan/plan-models.ts';
import type { FileSuite } from './plan/plan-suites.ts';
import { findUsable } from '../models/recordings/format.ts';
import { identifyCaseHost } from '../suite/model-settings.ts';

/** The gate asks a judge for two more opinions if its first opinion is a fail. */
const opinionsPerJudge = 3;

/**
 * Lists how many model calls the prompts and judges of a suite can make at most, how much is recorded, and where the keys are. The count
 * assumes that no recording fits, every prompt takes all of its steps, and no judge is sure at once. Requests of a server for sampling are
 * named and not counted, because only the server knows how many it makes.
 */
export function describeModels(
  { suite, requirements }: FileSuite,
  { models, nowMs }: { models: PlannedModels | null; nowMs: number },
): string[] {
  const cases = models?.cases.filter(({ suiteId }) => suiteId === suite.id) ?? [];
  if (models === null || cases.length === 0) return [];
  const { budgets, retryFailed, maximumRecordingAgeMs } = requirements;
  const byId = new Map(suite.cases.map((testCase) => [testCase.id, testCase]));
  const providers = new Map(cases.map(({ model }) => [model.provider, describeKey(models, model.provider)]));
  const callable = cases.filter(({ model }) => models.mode !== 'replay' && providers.get(model.provider)?.isCallable);
  const calls = callable.reduce((sum, asked) => sum + countCalls(asked, byId), 0) * (1 + retryFailed.value);
  const names = [...new Set(callable.map(({ model }) => `${model.provider}/${model.name}`))].join(', ');
  const samples = callable.some((asked) => answersSampling(asked, byId));
  const parts = [
    ...(calls > 0 ? [`up to ${formatCount(calls, 'model call')}`] : []),
    ...(samples ? [`${calls > 0 ? 'one' : '1 model call'} for each request of the server for sampling`] : []),
  ];
  const ceiling = parts.length === 0 ? 'no model calls' : `${parts.join(' and ')} with ${names}`;
  const limit = budgets.modelCalls;
  const cut =
    limit === null || (limit.value >= calls && !samples)
      ? ''
      : `, at most ${limit.value} by budgets.modelCalls (${describeSource(limit.source)})`;
  const isReading = models.mode === 'auto' || models.mode === 'replay';
  const recorded = isReading ? describeRecorded(cases, { byId, oldestMs: nowMs - maximumRecordingAgeMs.value }) : '';
  return [
    `${suite.name}: ${ceiling}${cut}; recordings: ${models.mode}${recorded}.`,
    ...(models.mode === 'replay' ? [] : [...providers.values()].map(({ line }) => line)),
  ];
}

/**
 * Lists the tools that models get in a changed form, as far as that is known before a server runs: the tools of a surface file, and decoys.
 * Empty if no case has a prompt.
 */
export function describeOffer(
  suites: ReadonlyArray<{ suite: Pick<Suite, 'cases'> }>,
  configurations: SurfaceFile['configurations'],
): string[] {
  const prompted = suites
    .flatMap(({ suite }) => suite.cases)
    .filter(({ steps }) => steps.some(({ step }) => step.kind === 'prompt'))
    .filter(({ modelSettings }) => identifyCaseHost(modelSettings) === null);
  if (prompted.length === 0) return [];
  const tools = [
    ...Object.values(configurations).flatMap((surface) => surface.tools),
    ...prompted.flatMap(({ modelSettings }) => modelSettings.decoys),
  ];
  return describeToolChanges([...new Map(tools.map((tool) => [tool.name, tool])).values()]);
}

function countCalls({ caseId, model, purpose }: PlannedModelCase, byId: ReadonlyMap<string, SuiteCase>): number {
  const testCase = byId.get(caseId);
  if (testCase === undefined) return 0;
  const { runs, steps, judges, modelSettings } = testCase;
  if (purpose === null) {
    const prompts = steps.filter(({ step }) => step.kind === 'prompt').length;
    return runs * prompts * (modelSettings.maxSteps ?? defaultMaxSteps);
  }
  const name = `${model.provider}/${model.name}`.toLowerCase();
  return runs * opinionsPerJudge * judges.filter(({ judge }) => judge.model?.toLowerCase() === name).length;
}

/** Checks if the model of the case answers the server's requests for sampling. */
function answersSampling({ caseId, purpose }: PlannedModelCase, byId: ReadonlyMap<string, SuiteCase>): boolean {
  return purpose === null && byId.get(caseId)?.client?.offer.sampling === 'model';
}

function describeRecorded(
  cases: readonly PlannedModelCase[],
  context: { byId: ReadonlyMap<string, SuiteCase>; oldestMs: number },
): string {
  const [prompts, judges] = [null, 'judge'].map((purpose) =>
    countRecorded(
      cases.filter((asked) => asked.purpose === purpose),
      context,
    ),
  );
  return [
    prompts === undefined || prompts.all === 0
      ? ''
      : `, ${prompts.recorded} of ${formatCount(prompts.all, 'iteration')} recorded${describeOld(prompts.old)}`,
    judges === undefined || judges.all === 0
      ? ''
      : `, judges of ${judges.recorded} of ${formatCount(judges.all, 'iteration')} recorded${describeOld(judges.old)}`,
  ].join('');
}

function describeOld(count: number): string {
  return count === 0 ? '' : ` (${count} too long ago)`;
}

function countRecorded(
  cases: readonly PlannedModelCase[],
  { byId, oldestMs }: { byId: ReadonlyMap<string, SuiteCase>; oldestMs: number },
): { all: number; recorded: number; old: number } {
  const dates = cases.flatMap(({ caseId, recording: read, host }) => {
    const recording = findUsable(read);
    const iterations = isSameHost(recording?.host, host) ? recording?.iterations : undefined;
    return Array.from({ length: byId.get(caseId)?.runs ?? 0 }, (_, index) => {
      const iteration = iterations?.get(index + 1);
      return iteration === undefined ? null : Date.parse(iteration.recordedAt);
    });
  });
  const recorded = dates.filter((date) => date !== null);
  return { all: dates.length, recorded: recorded.length, old: recorded.filter((date) => date < oldestMs).length };
}

/** Names the variable that holds the key of a provider, and never the key. */
function describeKey({ providers }: PlannedModels, provider: string): { isCallable: boolean; line: string } {
  try {
    const { apiKey, keyVariable } = providers.find(provider);
    const line =
      apiKey === null ? `${provider} is called without a key.` : `${provider}: the key is in ${keyVariable}.`;
    return { isCallable: true, line: `  ${line}` };
  } catch (error) {
    if (error instanceof ModelError) return { isCallable: false, line: `  ${describeError(error)}` };
    throw error;
  }
}
