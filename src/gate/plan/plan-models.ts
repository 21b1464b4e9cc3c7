import { describeError, ModelError } from '../../base/errors.ts';
import type { Findings } from '../../base/findings.ts';
import type { Secret } from '../../base/redaction.ts';
import { listProxySecrets, type ProxySettings, readProxySettings } from '../../http/proxy.ts';
import type { ModelPrice } from '../../model/cost.ts';
import type { HostIdentity } from '../../model/host-identity.ts';
import { isAdvisory } from '../../checks/assertion.ts';
import type { Pricing } from '../../model/policy.ts';
import type { NamedRule } from '../../model/source.ts';
import type { SourceLocation, Suite, SuiteCase } from '../../cases/suite.ts';
import type { ModelName } from '../../models/language-model.ts';
import { parseModelName } from '../../models/model-name.ts';
import {
  explainMissingParameter,
  type ProviderDirectory,
  type ProviderSources,
  readProviders,
  type WireFormat,
} from '../../models/providers.ts';
import { locateRecording, openRecordings } from '../../models/recordings/files.ts';
import type { ReadRecording } from '../../models/recordings/format.ts';
import type { RecordingsMode } from '../../models/recordings/source.ts';
import { findCasesWithoutModel, identifyCaseHost, locateModelUse } from '../../suite/model-settings.ts';
import type { GateOptions } from '../options/schema.ts';

/** A case with prompts or judges, a model that it asks, and the recording of its answers. */
export interface PlannedModelCase {
  suiteId: string;
  caseId: string;
  model: ModelName;
  /** The host of the conversation; null for the gate's own, and for judges. */
  host: HostIdentity | null;
  /** Null if the model answers the prompts of the case. */
  purpose: 'judge' | null;
  /** True if the case has no result without the answers of the model. */
  isDecisive: boolean;
  /** The path of its recording, which may not exist, relative to the working directory. */
  path: string;
  /** Null if there is none. */
  recording: ReadRecording | null;
  /** The parts of tool results that may differ from the recording. */
  ignored: readonly string[];
  /** Which other recordings are used. */
  reuse: Suite['recordings']['reuse'];
}

/** The models of a gate that executes its evals itself. */
export interface PlannedModels {
  mode: RecordingsMode;
  /** True if recordings are written next to the evals files; else they go below the report directory. */
  isInPlace: boolean;
  providers: ProviderDirectory;
  proxy: ProxySettings;
  cases: readonly PlannedModelCase[];
  /** The prices of calls. */
  pricing: { prices: ReadonlyArray<NamedRule<ModelPrice>>; currency: string };
  /** Wire formats that may be needed, loaded before the server under test starts. */
  formats: readonly WireFormat[];
  /** The keys of all providers. */
  secrets: readonly Secret[];
  /** The time limit of one call of a provider, and how many calls begin per second with one key. */
  calls: { timeoutMs: number; perSecond: number };
}

/** The options about models. */
export type ModelOptions = Pick<GateOptions, 'recordings' | 'modelApiKeys' | 'modelTimeout' | 'modelCallsPerSecond'>;

/** Finds the models that cases ask in prompts and as judges, and reads their recordings. */
export async function planModels(
  { recordings: mode, modelApiKeys, modelTimeout, modelCallsPerSecond }: ModelOptions,
  {
    suites,
    pricing: { prices, currency },
    cwd,
    environment,
    isRecording = false,
    models,
  }: {
    suites: readonly Suite[];
    pricing: Pricing;
    cwd: string;
    environment: Readonly<Record<string, string | undefined>>;
    isRecording?: boolean;
    models?: ProviderSources['models'];
  },
  findings: Findings,
): Promise<PlannedModels> {
  const providers = readProviders({ environment, keys: modelApiKeys, ...(models && { models }) });
  const proxy = readProxySettings(environment);
  const recordings = openRecordings(cwd);
  const cases: PlannedModelCase[] = [];
  const problems = new Map<string, string | null>();
  const planCase = async ({ suite, testCase, modelId, purpose, isDecisive, location }: AskedModel): Promise<void> => {
    const model = parseModelName(modelId);
    const missing =
      purpose === null ? explainMissingParameter(model.provider, testCase.modelSettings.parameters) : null;
    if (missing !== null) findings.add({ ...location, code: 'parameter-not-taken', message: missing });
    const problem = problems.get(modelId) ?? explainProblem(providers, model);
    if (!problems.has(modelId) && problem !== null && (mode === 'live' || mode === 'record')) {
      findings.add({
        ...location,
        code: 'model-unavailable',
        message: `${problem} \`recordings: ${mode}\` always calls the model`,
      });
    }
    problems.set(modelId, problem);
    // Each variant for a model has its own file, so the case of the evals file names it. A judge judges each variant apart.
    const caseId = purpose === 'judge' ? `${testCase.id}.judge` : testCase.recordingId;
    const host = purpose === 'judge' ? null : identifyCaseHost(testCase.modelSettings);
    const path = locateRecording(suite.location.file, { suiteId: suite.id, caseId, model, host });
    const read = mode === 'live' ? null : await recordings.read(path).catch(findings.absorb);
    const { ignore: ignored, reuse } = suite.recordings;
    const slot = { suiteId: suite.id, caseId: testCase.id, model, host, purpose };
    cases.push({ ...slot, isDecisive, path, recording: read ?? null, ignored, reuse });
  };
  findings.addAll(suites.flatMap(findCasesWithoutModel));
  for (const asked of suites.flatMap(listPrompted)) await planCase(asked);
  for (const judge of suites.flatMap(listJudges)) await planCase(judge);
  return {
    mode,
    isInPlace: isRecording || mode === 'record',
    providers,
    proxy,
    cases,
    pricing: { prices, currency: currency.value },
    formats: listFormats(providers, mode === 'replay' ? [] : cases),
    secrets: [...providers.secrets, ...listProxySecrets(proxy)],
    calls: { timeoutMs: modelTimeout, perSecond: modelCallsPerSecond },
  };
}

/** A model that a case asks, and the location that names it. */
interface AskedModel {
  suite: Suite;
  testCase: SuiteCase;
  modelId: string;
  purpose: 'judge' | null;
  isDecisive: boolean;
  location: SourceLocation;
}

/** Lists the model of every case that asks one. */
function listPrompted(suite: Suite): AskedModel[] {
  return suite.cases.flatMap((testCase) => {
    const [location, modelId] = [locateModelUse(testCase), testCase.model];
    return location === null || modelId === null
      ? []
      : [{ suite, testCase, modelId, purpose: null, isDecisive: true, location }];
  });
}

/** Lists the judges of every case, each model once. */
function listJudges(suite: Suite): AskedModel[] {
  return suite.cases.flatMap((testCase) => {
    const byModel = new Map<string, SourceLocation>();
    for (const { judge, location } of testCase.judges) {
      if (judge.model !== undefined && !byModel.has(judge.model)) byModel.set(judge.model, location);
    }
    return [...byModel].map(([modelId, location]) => {
      const isDecisive = testCase.judges.some(({ judge }) => judge.model === modelId && !isAdvisory(judge));
      return { suite, testCase, modelId, purpose: 'judge', isDecisive, location };
    });
  });
}

function explainProblem(providers: ProviderDirectory, { provider }: ModelName): string | null {
  try {
    providers.find(provider);
    return null;
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    const { hint } = error;
    return hint === undefined ? describeError(error) : `${describeError(error)} ${hint}`;
  }
}

/** Lists the wire formats of the providers that can be asked. */
function listFormats(providers: ProviderDirectory, cases: readonly PlannedModelCase[]): WireFormat[] {
  const formats = cases.flatMap(({ model }) =>
    explainProblem(providers, model) === null ? [providers.find(model.provider).format] : [],
  );
  return [...new Set(formats)];
}
