import { formatDuration } from '../../../src/base/time.ts';
import type { Check } from '../../../src/checks/assertion.ts';
import {
  defaultMatchOptions,
  toInternalMatchOptions,
  type ChecksEnvelope,
  type MatchOptionsLayer,
  type TestCase,
} from '../../../src/cases/case.ts';
import { isServerStep, listInnerSteps, type Step } from '../../../src/cases/step.ts';
import { findStepServer, readServerId } from '../../../src/cases/step-server.ts';
import type { ModelName } from '../../../src/models/language-model.ts';
import type { CaseContent, CaseModel } from '../../../src/service/bodies/case-body.ts';
import type { SuiteContent } from './bodies/stored-suite.ts';
import { ApiError, invalid, notSupported } from './envelope.ts';
import { type CaseServer, listCaseServers, nameStepServers } from '../../../src/runner/case-servers.ts';
import type { RunServer } from './run-request.ts';
import type { CaseRecord } from './store/case-store.ts';

/** A case as one run executes it: with its settings layered, and its servers and its model chosen. */
export interface PlannedCase {
  caseId: string;
  declaredId: string;
  testCase: TestCase;
  /** The servers that the case uses. Steps that name no server use the first. */
  servers: readonly [RunServer, ...RunServer[]];
  /** Null for a case without prompts. */
  model: ModelName | null;
}

export interface RunCasesOptions {
  suite: SuiteContent;
  /** The servers of the run; at least one. */
  servers: readonly [RunServer, ...RunServer[]];
  iterationOverride: number | undefined;
  matchOptionsOverride: MatchOptionsLayer | undefined;
  /** The maximum time limit of a case; a case with a longer one is refused. */
  iterationTimeoutMs: number;
  llmCallsPerRun: number;
  /** The model of a case with prompts if neither the case nor its suite names one. */
  defaultModel: ModelName | null;
  /** True if the run takes place in an environment, which must then name the model itself. */
  isInEnvironment?: boolean;
  /** Instructions that models get after the system prompt of a case; none by default. */
  skills?: string | null;
  /** Explains why a model cannot be asked; null if it can. */
  findModelProblem: (model: ModelName) => string | null;
}

/**
 * Prepares a suite's cases for the engine: it layers match options (defaults, suite, case, run), resolves checks, and raises iterations to
 * the suite's minimum or replaces them by the run's number. A case with prompts runs with each of its models. A case of tool calls needs no
 * model, so the models of other cases do not multiply its iterations.
 *
 * @throws {ApiError} VALIDATION_ERROR for more model calls or time than a run may take, or a case that names no model;
 * FEATURE_NOT_SUPPORTED for a model that cannot be asked.
 */
export function planRunCases(cases: readonly CaseRecord[], options: RunCasesOptions): PlannedCase[] {
  const planned = cases.flatMap(({ id, declaredId, content }) => {
    refuseRevision(content);
    const [main, ...more] = options.servers;
    const servers = listCaseServers(content, [nameRecord(main), ...more.map(nameRecord)]);
    const testCase = resolveTestCase(content, options);
    return listModels(content, options).map((model) => ({ caseId: id, declaredId, testCase, servers, model }));
  });
  const totalCalls = planned.reduce((sum, { testCase }) => sum + testCase.runs * countPrompts(testCase.steps), 0);
  if (totalCalls > options.llmCallsPerRun) {
    const message = `The run would make ${totalCalls} model calls; at most ${options.llmCallsPerRun} are allowed.`;
    throw invalid(message, { totalCalls, cap: options.llmCallsPerRun });
  }
  for (const { model, testCase } of planned) {
    const problem = model === null ? null : options.findModelProblem(model);
    if (problem !== null) throw notSupported(`Case ${JSON.stringify(testCase.title)} needs a model: ${problem}`);
  }
  return planned;
}

/** Lists the models that a case runs with: its own, or else the suite's, or the service's; null if no step needs a model. */
function listModels(
  content: CaseContent,
  { suite, defaultModel, isInEnvironment = false }: RunCasesOptions,
): Array<ModelName | null> {
  if (!asksModel(content)) return [null];
  const named = content.models.length > 0 || suite.model === null ? content.models : [{ model: suite.model }];
  if (named.length === 0 && isInEnvironment) throw requireEnvironmentModel(content.title);
  if (named.length === 0 && defaultModel !== null) return [defaultModel];
  if (named.length === 0) {
    throw invalid(`Case ${JSON.stringify(content.title)} asks a model and names none, and neither does its suite.`);
  }
  return named.map(readModel);
}

/** True if a run of the case needs a model. */
export function asksModel({ steps, advancedConfig }: CaseContent): boolean {
  return countPrompts(steps) > 0 || advancedConfig?.client?.sampling === 'model';
}

/** Makes the refusal for a case that asks a model in an environment without one. */
export function requireEnvironmentModel(title: string): ApiError {
  const message = `Case ${JSON.stringify(title)} asks a model, and neither the environment nor its host names one; set \`modelId\` of the environment.`;
  return new ApiError('CONFLICT', message, { details: { reason: 'environment_model_required' } });
}

/** Reads `provider/name`, or the name of a model next to its provider. A name without a provider belongs to ollama. */
export function readModel({ model, provider }: CaseModel): ModelName {
  const slash = model.indexOf('/');
  if (provider !== undefined) {
    return { provider, name: model.startsWith(`${provider}/`) ? model.slice(provider.length + 1) : model };
  }
  return slash === -1
    ? { provider: 'ollama', name: model }
    : { provider: model.slice(0, slash), name: model.slice(slash + 1) };
}

function resolveTestCase(content: CaseContent, options: RunCasesOptions): TestCase {
  const { title, steps, expectedOutput, scenario } = content;
  const { suite, iterationOverride, iterationTimeoutMs, skills = null } = options;
  const servers = options.servers.map(nameRecord);
  const nameServers = (step: Step) => nameStepServers(step, servers);
  const { setup, teardown, timeoutMs = iterationTimeoutMs } = content.advancedConfig ?? {};
  if (timeoutMs > iterationTimeoutMs) {
    throw invalid(
      `Case ${JSON.stringify(title)} asks for ${formatDuration(timeoutMs)} per iteration (advancedConfig.timeoutMs); this service allows at most ${formatDuration(iterationTimeoutMs)}.`,
    );
  }
  const ownSystem = content.advancedConfig?.system ?? suite.systemPrompt;
  const system =
    skills === null || countPrompts(steps) === 0 ? ownSystem : [ownSystem ?? [], skills].flat().join('\n\n');
  return {
    title,
    steps: addImplicitRenderCheck(steps.map(nameServers)),
    runs: iterationOverride ?? Math.max(content.iterations, suite.minimumIterations ?? 1),
    ...(expectedOutput === undefined ? {} : { expectedOutput }),
    ...(scenario === undefined ? {} : { scenario }),
    isNegativeTest: content.isNegative,
    matchOptions: toInternalMatchOptions({
      ...defaultMatchOptions,
      ...suite.matchOptions,
      ...content.matchOptions,
      ...options.matchOptionsOverride,
    }),
    predicates: { mode: 'replace', list: resolveChecks(suite.checks, content.checks) },
    advancedConfig: {
      ...(suite.temperature !== undefined && { temperature: suite.temperature }),
      ...content.advancedConfig,
      ...(system !== undefined && { system }),
      ...(setup && { setup: setup.map(nameServers) }),
      ...(teardown && { teardown: teardown.map(nameServers) }),
      timeoutMs,
    },
  };
}

/**
 * Adds a render check to a case with only one tool call, because the API assumes that such a case tests a widget. This service does the same,
 * although it cannot render: otherwise, a case that passes here would fail there.
 */
function addImplicitRenderCheck(steps: Step[]): Step[] {
  const [only, ...others] = steps;
  if (only?.kind !== 'toolCall' || others.length > 0) return steps;
  const assertion = { type: 'widgetRendered' as const, toolName: only.toolName };
  return [only, { id: `${only.id}-implicit-widget-rendered`, kind: 'assert', assertion }];
}

function resolveChecks(ofSuite: Check[], ofCase: ChecksEnvelope | undefined): Check[] {
  switch (ofCase?.mode) {
    case 'replace':
      return ofCase.list;
    case 'extend':
      return [...ofSuite, ...ofCase.list];
    case 'inherit':
    case undefined:
      return ofSuite;
  }
}

/**
 * Requires that the run has every server that its cases name: a call of a missing server would end the run without a result.
 *
 * @throws {ApiError} VALIDATION_ERROR with the first step that calls a missing server.
 */
export function requireNamedServers(cases: readonly CaseRecord[], servers: readonly RunServer[]): void {
  for (const { content } of cases) {
    for (const step of listAllSteps(content)) {
      if (!isServerStep(step) || findStepServer(step, servers.map(nameRecord), (each) => each) !== undefined) continue;
      throw invalid(
        `Step ${JSON.stringify(step.id)} of case ${JSON.stringify(content.title)} calls server ${JSON.stringify(readServerId(step) ?? step.serverName)}, which is not among the run's servers.`,
      );
    }
  }
}

/** Lists all steps of a case, including setup, teardown and repeated steps. */
function listAllSteps({ steps, advancedConfig: { setup = [], teardown = [] } = {} }: CaseContent): Step[] {
  return listInnerSteps([...setup, ...steps, ...teardown]);
}

/** @throws {ApiError} for a case that sets a revision of MCP, because the service detects the revision of a server itself. */
function refuseRevision({ title, advancedConfig }: CaseContent): void {
  const revision = advancedConfig?.protocol;
  if (revision === undefined) return;
  throw notSupported(`Case ${JSON.stringify(title)} is run in MCP ${revision}, and no server of the run is.`);
}

/** Names a server of a run as the steps of its cases do. */
function nameRecord<Server extends RunServer>(server: Server): Server & CaseServer {
  return { ...server, name: server.content.name };
}

function countPrompts(steps: readonly Step[]): number {
  return steps.filter(({ kind }) => kind === 'prompt').length;
}
