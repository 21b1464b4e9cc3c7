import { z } from 'zod';
import type { Clock } from '../../../src/base/time.ts';
import type { ConcurrencySetting } from '../../../src/model/concurrency.ts';
import type { RunCreateBody } from './bodies/stored-suite.ts';
import type { ModelName, ModelSource } from '../../../src/models/language-model.ts';
import type { ConnectedTarget } from '../../../src/runner/connect-target.ts';
import { findToolClash } from '../../../src/engine/tool-list.ts';
import { invalid } from './envelope.ts';
import { createExactlyOnce } from './exactly-once.ts';
import { describePlannedCase, hashEvaluation } from './planned-case.ts';
import { planRunCases, requireNamedServers, type PlannedCase } from './plan-run-cases.ts';
import { createId } from '../../../src/base/ids.ts';
import type { ServiceLimits } from '../../../src/service/api-limits.ts';
import type { PlannedTarget, Runner } from '../../../src/runner/runner.ts';
import type { Store } from './store/open-store.ts';
import type { RunEnvironment } from './store/run-store.ts';
import { describeRequest, findAnswer, keepAnswer, type IdempotentRequest } from './request.ts';
import { requireSuite } from './lookup.ts';
import { createRunSlots, type RunSlot } from './run-slots.ts';
import {
  type FindRunTarget,
  resolveRunRequest,
  nameRunServer,
  type RunRequest,
  type RunServer,
} from './run-request.ts';
import { scheduleCases } from '../../../src/runner/schedule.ts';

/** The answer to the creation of a run. */
export interface RunCreated {
  runId: string;
  suiteId: string;
  status: string;
  /** Set if the same request was received before; this is the run that it started. */
  deduped?: true;
  caseUpsert: { committed: Array<{ id: string; name: string }>; failed: [] };
  servers: Array<{ id: string; name: string }>;
  environment: RunEnvironment | null;
  runGroupId?: string;
}

interface Order {
  projectId: string;
  body: RunCreateBody;
  request: IdempotentRequest | undefined;
  source: 'api' | 'schedule';
  /** A slot that the caller already took; null to take a new one. */
  slot: RunSlot | null;
}

export interface RunCreator {
  /**
   * Checks a request, connects to its servers, records the run and starts it. Resolves once the run is running. If the key was used before,
   * it returns the earlier run and starts nothing.
   *
   * @throws {ApiError} as the contract says; SERVER_UNREACHABLE if a server cannot be connected to.
   */
  createRunExactlyOnce(
    projectId: string,
    body: RunCreateBody,
    key: string | undefined,
    slot?: RunSlot | null,
  ): Promise<RunCreated>;
  /** True if the request would get the run of an earlier request. */
  wasCreated(projectId: string, body: RunCreateBody, key: string | undefined): boolean;
  /** Makes all checks of a request that need no connection to its servers. Throws like the creation. */
  checkRun(projectId: string, body: RunCreateBody): void;
  /** Takes a slot that several runs may share. */
  takeSlot(): RunSlot;
  /**
   * Starts the run of a suite that is due. It starts only one run per due time, however often it is called.
   *
   * @throws {ApiError} as above
   */
  createDueRun(projectId: string, body: RunCreateBody & { suiteId: string }, dueTime: string): Promise<RunCreated>;
}

/** The parts that record and start runs. */
interface RunParts {
  /** Null if no model can be asked. */
  models: ModelSource | null;
  defaultModel: ModelName | null;
  store: Store;
  clock: Clock;
  runner: Pick<Runner, 'start' | 'isActive'>;
  concurrency: ConcurrencySetting;
}

export function createRunCreator(
  parts: RunParts,
  {
    limits,
    iterationTimeoutMs,
    connect,
    findTarget,
  }: {
    limits: Pick<ServiceLimits, 'concurrentRuns' | 'llmCallsPerRun'>;
    iterationTimeoutMs: number;
    findTarget: FindRunTarget;
    connect: (servers: readonly RunServer[]) => Promise<ReadonlyMap<string, ConnectedTarget>>;
  },
): RunCreator {
  const { store, clock, runner, models, defaultModel } = parts;
  const doOnce = createExactlyOnce(store);
  const takeSlot = createRunSlots(runner, limits);

  const planRun = (projectId: string, body: RunCreateBody) => {
    const found = resolveRunRequest(store, projectId, body, { now: clock.now(), findTarget });
    const planned = planRunCases(found.cases, {
      suite: found.suite.content,
      servers: found.servers,
      iterationOverride: body.iterationOverride,
      matchOptionsOverride: body.matchOptionsOverride,
      iterationTimeoutMs,
      llmCallsPerRun: limits.llmCallsPerRun,
      defaultModel,
      isInEnvironment: found.environment !== null,
      skills: found.skills,
      findModelProblem: (model) =>
        models === null ? 'this service runs none.' : models.findProblem({ model, apiKeys: readApiKeys(body) }),
    });
    return { found, planned };
  };

  const createRun = async (order: Order): Promise<RunCreated> => {
    const { projectId, body } = order;
    const { found, planned } = planRun(projectId, body);
    using own = order.slot === null ? takeSlot() : null;
    const targets = await connect(planned.flatMap(({ servers }) => servers));
    refuseClashes(planned, targets);
    // Checked after the connection, as in the API: an unreachable server is reported first.
    requireNamedServers(found.cases, found.servers);
    // The suite may have been deleted during the connection.
    if (body.suiteId !== undefined) requireSuite(store, projectId, body.suiteId);
    const created = startRun(parts, order, { found, planned, targets });
    (order.slot ?? own)?.add(created.runId);
    return created;
  };

  const describeOnce = (projectId: string, body: RunCreateBody, key: string | undefined) => {
    const { idempotencyKey: _key, modelApiKeys: _modelApiKeys, ...asked } = body;
    const subject = body.suiteId === undefined ? `name:${body.suiteName ?? ''}` : `suite:${body.suiteId}`;
    return describeRequest(`run:${projectId}:${subject}`, key, asked);
  };

  return {
    takeSlot,
    checkRun: (projectId, body) => void planRun(projectId, body),
    wasCreated: (projectId, body, key) =>
      findAnswer(store, describeOnce(projectId, body, key), z.custom<RunCreated>()) !== undefined,
    createRunExactlyOnce: async (projectId, body, key, slot = null) => {
      const request = describeOnce(projectId, body, key);
      const { answer, isRepeat } = await doOnce(request, z.custom<RunCreated>(), () =>
        createRun({ projectId, body, request, source: 'api', slot }),
      );
      if (!isRepeat) return answer;
      return { ...answer, status: store.runs.get(answer.runId)?.status ?? answer.status, deduped: true };
    },
    createDueRun: async (projectId, body, dueTime) => {
      const request = { scope: `schedule:${body.suiteId}`, key: dueTime, fingerprint: '' };
      const work = () => createRun({ projectId, body, request, source: 'schedule', slot: null });
      return (await doOnce(request, z.custom<RunCreated>(), work)).answer;
    },
  };
}

/** Records a run with all its iterations in one transaction, and starts the runner on it. */
function startRun(
  { models, store, clock, runner, concurrency }: RunParts,
  { projectId, body, request, source }: Order,
  plan: { found: RunRequest; planned: readonly PlannedCase[]; targets: ReadonlyMap<string, ConnectedTarget> },
): RunCreated {
  const { suite, servers, upserted, environment } = plan.found;
  const runId = createId('run');
  const apiKeys = readApiKeys(body);
  const cases = plan.planned.map((planned) => planIterations(planned, { ...plan, models, apiKeys }));
  const iterations = cases.flatMap(({ iterations }) => iterations);
  const created: RunCreated = {
    runId,
    suiteId: suite.id,
    status: 'running',
    caseUpsert: { committed: upserted.map(({ id, content }) => ({ id, name: content.title })), failed: [] },
    servers: servers.map(({ id, content }) => ({ id, name: content.name })),
    environment,
    ...(body.runGroupId === undefined ? {} : { runGroupId: body.runGroupId }),
  };
  store.transact(() => {
    plan.found.write();
    store.runs.insert({
      id: runId,
      projectId,
      suiteId: suite.id,
      minimumPassRate: body.passCriteria?.minimumPassRate ?? suite.content.minimumAccuracy ?? 100,
      notes: body.notes ?? null,
      total: iterations.length,
      evaluationConfigHash: hashEvaluation(suite.content, body.matchOptionsOverride),
      groupId: body.runGroupId,
      source,
      environment,
      now: clock.now(),
    });
    for (const { declaredId, testCase } of plan.planned) {
      store.plannedCases.insert(runId, declaredId, describePlannedCase(testCase));
    }
    for (const [position, { id, caseId, caseKey, iterationNumber, testCase, model }] of iterations.entries()) {
      const { title } = testCase;
      store.iterations.insert({ runId, position, id, caseId, caseKey, title, iterationNumber, model });
    }
    keepAnswer(store, request, created);
  });
  const scheduling = { setting: concurrency, source: 'default', isIndependent: false, hasOneProcess: false };
  const { batches } = scheduleCases(cases, scheduling);
  runner.start(runId, batches);
  return created;
}

/**
 * Refuses servers of one case that have tools of the same name, because assertions and models name a tool without its server.
 *
 * @throws {ApiError} VALIDATION_ERROR with two servers of one case that list a tool of the same name.
 */
function refuseClashes(planned: readonly PlannedCase[], targets: ReadonlyMap<string, ConnectedTarget>): void {
  for (const { testCase, servers } of planned) {
    const problem = findToolClash(
      testCase.title,
      servers.map((server) => ({
        name: nameRunServer(server),
        tools: targets.get(server.id)?.readOnlyTools?.keys() ?? [],
      })),
    );
    if (problem !== null) throw invalid(problem);
  }
}

/** Joins the lists of read-only tools; null if one of the servers did not list its tools. */
function joinReadOnlyTools(lists: ReadonlyArray<ConnectedTarget['readOnlyTools']>): ConnectedTarget['readOnlyTools'] {
  if (lists.includes(null)) return null;
  return new Map(lists.flatMap((list) => [...(list ?? [])]));
}

/** Reads the provider keys that came with the run. They are used only for this run and never stored. */
function readApiKeys({ modelApiKeys = {} }: RunCreateBody): ReadonlyMap<string, string> {
  return new Map(Object.entries(modelApiKeys));
}

function planIterations(
  { caseId, declaredId, testCase, servers, model }: PlannedCase,
  {
    targets,
    models,
    apiKeys,
  }: {
    targets: ReadonlyMap<string, ConnectedTarget>;
    models: ModelSource | null;
    apiKeys: ReadonlyMap<string, string>;
  },
) {
  const [first, ...others] = servers;
  const find = (server: RunServer) => {
    const connected = targets.get(server.id);
    if (connected === undefined) throw new Error(`Server ${server.id} was planned for and never connected to.`);
    return { serverId: server.id, target: { ...connected.target, serverName: nameRunServer(server) } };
  };
  const reached: [PlannedTarget, ...PlannedTarget[]] = [find(first), ...others.map(find)];
  const readOnlyTools = joinReadOnlyTools(servers.map(({ id }) => targets.get(id)?.readOnlyTools ?? null));
  const iterations = Array.from({ length: testCase.runs }, (_, index) => {
    const iterationNumber = index + 1;
    return {
      id: createId('iter'),
      caseId,
      caseKey: declaredId,
      iterationNumber,
      testCase,
      servers: reached,
      model,
      openModel:
        model === null || models === null
          ? null
          : async () => await models.openSession({ model, caseId, iterationNumber, apiKeys }),
      openJudge:
        models === null
          ? null
          : async (judge: ModelName) =>
              await models.openSession({ model: judge, caseId, iterationNumber, apiKeys, purpose: 'judge' }),
    };
  });
  return { testCase, readOnlyTools, iterations };
}
