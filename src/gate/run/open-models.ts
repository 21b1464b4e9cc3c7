import type { Logger } from '../../base/logger.ts';
import type { Redactor } from '../../base/redaction.ts';
import type { Clock } from '../../base/time.ts';
import type { SuiteRequirements } from '../../model/policy.ts';
import type { ModelName, ModelRequest, ModelSource } from '../../models/language-model.ts';
import { formatModelName } from '../../models/model-name.ts';
import { describePackage } from '../../models/open-provider.ts';
import { createProviderSource, type ProviderSource } from '../../models/provider-source.ts';
import { compileIgnore } from '../../models/recordings/ignore.ts';
import { createFingerprinter } from '../../models/recordings/fingerprint.ts';
import type { Recording } from '../../models/recordings/format.ts';
import { createRecorder, mergeRecording } from '../../models/recordings/record.ts';
import { createRecordedSource, type RecordedCase } from '../../models/recordings/source.ts';
import type { PlannedModelCase, PlannedModels } from '../plan/plan-models.ts';
import { createModelBudget, limitSpending, type ModelBudget } from './model-budget.ts';

/** A recording that a gate made, and where it belongs. */
export interface MadeRecording {
  /** Relative to the working directory. */
  path: string;
  recording: Recording;
  /** Iterations that were not recorded, and why. */
  skipped: ReadonlyMap<number, string>;
}

/** The models of one gate: providers, recordings, and the limit on calls. */
export interface JobModels extends Pick<ProviderSource, 'listWarnings'>, ModelSource, AsyncDisposable {
  /**
   * Says which suite runs next, which cases of the service inside this process are which of the plan, and what the policy requires.
   * Suites run one after another; the rounds of one share its budgets.
   */
  setSuite(suite: {
    suiteId: string;
    caseIds: ReadonlyMap<string, string>;
    requirements: Pick<SuiteRequirements, 'budgets' | 'maximumRecordingAgeMs'>;
    /** By case of the plan: which iterations of the gate those of the next run are; by default they count from 1. */
    numbers?: ReadonlyMap<string, readonly number[]> | undefined;
    /** Whether the run is for a comparison alone: nothing of it is recorded, and it replays the recorded iterations as often as it takes. */
    isCompared?: boolean;
    /** Whether such a run uses the budgets of the suite, and not its own. */
    sharesBudgets?: boolean;
  }): void;
  /** The answers that providers gave in this gate, as recordings; none where recordings are not used. */
  collect(): Promise<MadeRecording[]>;
}

/** Loads what speaks to the providers of the plan, so that nothing is read from a disk once the server under test runs. */
export async function loadProviders({ formats }: Pick<PlannedModels, 'formats'>): Promise<void> {
  await Promise.all(formats.map(describePackage));
}

export function openModels(
  plan: PlannedModels,
  { clock, logger, redactor }: { clock: Clock; logger: Logger; redactor: Redactor },
): JobModels {
  const { mode, providers, proxy, calls } = plan;
  const shared = { clock, logger, redactor };
  const limits = { attemptTimeoutMs: calls.timeoutMs, callTimeoutMs: calls.timeoutMs };
  const live = createProviderSource({
    providers,
    proxy,
    random: Math.random,
    limits,
    callsPerSecond: calls.perSecond,
    ...shared,
  });
  const recorder = createRecorder({ redactor });
  const planned = new Map<string, PlannedModelCase>();
  const recorded = new Map<string, RecordedCase>();
  const findCase = (request: ModelRequest): RecordedCase => {
    const found = recorded.get(nameSlot(request.caseId, request));
    if (found === undefined) throw new Error(`The case ${request.caseId} of the service is none of the plan.`);
    return found;
  };
  const findProviderProblem = (provider: string) =>
    live.findProblem({ model: { provider, name: '' }, apiKeys: new Map() });
  const now = () => clock.now();
  let budget: ModelBudget = createModelBudget({ modelCalls: null, tokens: null, cost: null }, plan.pricing);
  let maximumAgeMs = 0;
  const budgets = new Map<string, ModelBudget>();
  /** By the service's id of a case. */
  let numbersByCase = new Map<string, readonly number[]>();
  const limited = limitSpending(live, () => budget);
  const parts = { mode, findCase, live: limited, findProviderProblem, maximumAgeMs: () => maximumAgeMs, now };
  const source = createRecordedSource({ ...parts, recorder });
  const comparing = { recorder: createRecorder({ redactor }), repeatsRecordings: true };
  const comparedSource = createRecordedSource({ ...parts, ...comparing });
  let isForComparison = false;
  return {
    ...source,
    listWarnings: () => live.listWarnings(),
    openSession: async (request) => {
      const { caseId, iterationNumber } = request;
      const number = numbersByCase.get(caseId)?.[iterationNumber - 1] ?? iterationNumber;
      return await (isForComparison ? comparedSource : source).openSession({ ...request, iterationNumber: number });
    },
    setSuite: ({ suiteId, caseIds, requirements, numbers, isCompared = false, sharesBudgets = false }) => {
      isForComparison = isCompared;
      numbersByCase = new Map(
        [...caseIds].flatMap(([serviceId, caseId]) => {
          const ofCase = numbers?.get(caseId);
          return ofCase === undefined ? [] : [[serviceId, ofCase] as const];
        }),
      );
      maximumAgeMs = requirements.maximumRecordingAgeMs.value;
      const side = JSON.stringify([suiteId, isCompared && !sharesBudgets]);
      budget = budgets.get(side) ?? createModelBudget(requirements.budgets, plan.pricing);
      budgets.set(side, budget);
      for (const [serviceId, caseId] of caseIds) {
        for (const found of plan.cases.filter((item) => item.suiteId === suiteId && item.caseId === caseId)) {
          const slot = nameSlot(serviceId, found);
          if (planned.has(slot)) continue;
          planned.set(slot, found);
          const ignore = compileIgnore(found.ignored);
          recorded.set(slot, {
            recording: found.recording,
            fingerprinter: createFingerprinter({ redactor, ignore }),
          });
        }
      }
    },
    collect: async () => {
      const made: MadeRecording[] = [];
      for (const collected of mode === 'live' ? [] : recorder.list()) {
        const found = planned.get(nameSlot(collected.caseId, collected));
        if (found === undefined) continue;
        const { path, recording: earlier, model } = found;
        const providerPackage = await describePackage(providers.find(model.provider).format);
        const recording = mergeRecording(mode === 'record' ? null : earlier, collected, providerPackage);
        made.push({ path, recording, skipped: collected.skipped });
      }
      return made;
    },
    [Symbol.asyncDispose]: async () => await live[Symbol.asyncDispose](),
  };
}

/** Names a recording of a case: a case has one model that it prompts, and one or several that judge it. */
function nameSlot(caseId: string, { purpose, model }: { purpose?: 'judge' | null; model: ModelName }): string {
  return purpose === 'judge' ? JSON.stringify([caseId, formatModelName(model)]) : caseId;
}
