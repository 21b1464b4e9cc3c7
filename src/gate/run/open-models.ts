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
import { findUsable, type Recording } from '../../models/recordings/format.ts';
import { type CollectedIterations, createRecorder, mergeRecording } from '../../models/recordings/recorded-answer.ts';
import { createRecordedSource, type RecordedCase } from '../../models/recordings/source.ts';
import type { PlannedModelCase, PlannedModels } from '../plan/plan-models.ts';
import { createModelBudget, limitSpending, type ModelBudget } from './model-budget.ts';

/** A recording that a gate made, and the path that it belongs to. */
export interface MadeRecording {
  /** A path relative to the working directory. */
  path: string;
  recording: Recording;
  /** The recording that the gate read; null if there was none that can be used. */
  earlier: Recording | null;
  /** The iterations that were not recorded, each with the reason. */
  skipped: ReadonlyMap<number, string>;
}

/** A run that asks models. */
export interface ModelRun {
  suiteId: string;
  requirements: Pick<SuiteRequirements, 'budgets' | 'maximumRecordingAgeMs'>;
  /** The numbers of the run's iterations within the gate, by case; by default they count from 1. */
  numbers: ReadonlyMap<string, readonly number[]> | null;
  /**
   * Set for a run that is only for a comparison. The gate records nothing of it, and it replays the recorded iterations as often as
   * necessary. It has its own budgets unless it shares those of the suite.
   */
  compared: { sharesBudgets: boolean } | null;
}

/** The models of one gate: providers, recordings, and the limit on calls. */
export interface JobModels extends Pick<ProviderSource, 'listWarnings'>, AsyncDisposable {
  /** Returns the models for the iterations of a run. The runs of a suite share its budgets. */
  open(run: ModelRun): ModelSource;
  /** Keeps what an iteration of a case recorded, which has ended. */
  endIteration(suiteId: string, caseId: string): void;
  /** Returns the answers of providers in this gate, as recordings; none if recordings are not used. */
  collect(): Promise<MadeRecording[]>;
}

/** Loads the packages for the providers of the plan, so that nothing is read from a disk while the server under test runs. */
export async function loadProviders({ formats }: Pick<PlannedModels, 'formats'>): Promise<void> {
  await Promise.all(formats.map(describePackage));
}

export function openModels(
  plan: PlannedModels,
  {
    clock,
    logger,
    redactor,
    keep = null,
  }: {
    clock: Clock;
    logger: Logger;
    redactor: Redactor;
    /** Writes recordings while the gate runs, so that a gate that is killed loses only the iterations that ran; by default none are. */
    keep?: ((made: MadeRecording) => Promise<void>) | null;
  },
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
  for (const found of plan.cases) {
    const slot = nameSlot(nameCase(found.suiteId, found.caseId), found);
    if (planned.has(slot)) continue;
    planned.set(slot, found);
    const fingerprinter = createFingerprinter({ redactor, ignore: compileIgnore(found.ignored) });
    const { recording, host, reuse } = found;
    recorded.set(slot, { recording, host, reuse, fingerprinter });
  }
  const findCase = (request: ModelRequest): RecordedCase => {
    const found = recorded.get(nameSlot(request.caseId, request));
    if (found === undefined) throw new Error(`The case ${request.caseId} is none of the plan.`);
    return found;
  };
  const findProviderProblem = (provider: string) =>
    live.findProblem({ model: { provider, name: '' }, apiKeys: new Map() });
  const describeMade = async (
    collected: CollectedIterations,
    { replacesEarlier }: { replacesEarlier: boolean },
  ): Promise<MadeRecording | null> => {
    const found = planned.get(nameSlot(collected.caseId, collected));
    if (found === undefined) return null;
    const { path, model, host } = found;
    const earlier = findUsable(found.recording);
    const providerPackage = await describePackage(providers.find(model.provider).format);
    const recording = mergeRecording(replacesEarlier ? null : earlier, collected, providerPackage, host);
    return { path, recording, earlier, skipped: collected.skipped };
  };
  const keepCase = async (caseId: string, save: NonNullable<typeof keep>, earlier: Promise<void>): Promise<void> => {
    await earlier;
    for (const collected of recorder.listCase(caseId)) {
      // The iterations that are not recorded again yet stay as they are.
      const made = await describeMade(collected, { replacesEarlier: false });
      if (made !== null) await save(made);
    }
  };
  let keeping = Promise.resolve();
  const budgets = new Map<string, ModelBudget>();
  /** The tools that differ from a recording that is used, by case. */
  const reused = new Map<string, Set<string>>();
  return {
    listWarnings: () => [...live.listWarnings(), ...describeReuse(reused)],
    open: ({ suiteId, requirements, numbers, compared }) => {
      const side = JSON.stringify([suiteId, compared !== null && !compared.sharesBudgets]);
      const budget = budgets.get(side) ?? createModelBudget(requirements.budgets, plan.pricing);
      budgets.set(side, budget);
      const source = createRecordedSource({
        mode,
        findCase,
        live: limitSpending(live, () => budget),
        findProviderProblem,
        maximumAgeMs: () => requirements.maximumRecordingAgeMs.value,
        now: () => clock.now(),
        recorder: compared === null ? recorder : createRecorder({ redactor }),
        repeatsRecordings: compared !== null,
        onReuse: ({ caseId }, tools) => void reused.set(caseId, new Set([...(reused.get(caseId) ?? []), ...tools])),
      });
      return {
        findProblem: (request) => source.findProblem(request),
        openSession: async (request) => {
          const { caseId, iterationNumber: own } = request;
          const iterationNumber = numbers?.get(caseId)?.[own - 1] ?? own;
          return await source.openSession({ ...request, caseId: nameCase(suiteId, caseId), iterationNumber });
        },
      };
    },
    endIteration: (suiteId, caseId) => {
      if (keep === null) return;
      // One write after the other: the recordings of a suite share a file. The end of the gate writes them again, and says why it cannot.
      keeping = keepCase(nameCase(suiteId, caseId), keep, keeping).catch(() => {});
    },
    collect: async () => {
      await keeping;
      const made: MadeRecording[] = [];
      for (const collected of mode === 'live' ? [] : recorder.list()) {
        const described = await describeMade(collected, { replacesEarlier: mode === 'record' });
        if (described !== null) made.push(described);
      }
      return made;
    },
    [Symbol.asyncDispose]: async () => {
      await keeping;
      await live[Symbol.asyncDispose]();
    },
  };
}

function describeReuse(reused: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  if (reused.size === 0) return [];
  const tools = [...new Set([...reused.values()].flatMap((names) => [...names]))].toSorted();
  const [cases, them] =
    reused.size === 1 ? ['1 case is', 'it never calls'] : [`${reused.size} cases are`, 'they never call'];
  return [
    `The recordings of ${cases} used (\`recordings.reuse\`), although tools differ that ${them}: ${tools.map((name) => `\`${name}\``).join(', ')}.`,
  ];
}

/** Names a case of the plan: ids of cases are unique only within their suite. */
function nameCase(suiteId: string, caseId: string): string {
  return JSON.stringify([suiteId, caseId]);
}

/** Names a recording of a case: a case has one model that it prompts, and any number of models that judge it. */
function nameSlot(caseId: string, { purpose, model }: { purpose?: 'judge' | null; model: ModelName }): string {
  return purpose === 'judge' ? JSON.stringify([caseId, formatModelName(model)]) : caseId;
}
