import { z } from 'zod';
import type { RunCreateBody } from './bodies/suite.ts';
import { type ConnectedTarget, connectTargets } from './connect.ts';
import type { ServiceContext } from './context.ts';
import { ApiError } from './envelope.ts';
import { expandCases, requireNamedServers, type PlannedCase } from './plan-run-cases.ts';
import { createId } from './id.ts';
import { describeRequest, findAnswer, keepAnswer, type IdempotentRequest } from './idempotency.ts';
import { requireSuite } from './lookup.ts';
import { resolveRunRequest, type RunRequest } from './run-request.ts';
import { scheduleCases } from './schedule.ts';

/** What the creation of a run is answered with. */
export interface RunCreated {
  runId: string;
  suiteId: string;
  status: string;
  /** The request had been received before, and this is the run that it started. */
  deduped?: true;
  caseUpsert: { committed: Array<{ id: string; name: string }>; failed: [] };
  servers: Array<{ id: string; name: string }>;
  environment: null;
  runGroupId?: string;
}

interface Launch {
  projectId: string;
  body: RunCreateBody;
  request: IdempotentRequest | undefined;
}

export interface Launcher {
  /**
   * Checks a request, connects to its servers, records the run and starts it; resolves once it is running. A key that
   * was used before gives the run it started, and starts nothing.
   *
   * @throws {ApiError} as the contract says; SERVER_UNREACHABLE when a server cannot be connected to.
   */
  launch(projectId: string, body: RunCreateBody, key: string | undefined): Promise<RunCreated>;
}

export function createLauncher(context: ServiceContext): Launcher {
  const { store, limits, runner } = context;
  /** Keyed launches that are not recorded yet. */
  const underWay = new Map<string, Promise<RunCreated>>();
  let launching = 0;

  /** A launch holds a slot too: its connection takes a while, and others may ask meanwhile. */
  const takeSlot = (): Disposable => {
    if (runner.countActive() + launching >= limits.concurrentRuns) {
      throw new ApiError('RATE_LIMITED', `${limits.concurrentRuns} runs are executing; wait until one has ended.`, {
        details: { reason: 'CONCURRENT_RUN_LIMIT', maxConcurrentRuns: limits.concurrentRuns },
      });
    }
    launching += 1;
    return {
      [Symbol.dispose]: () => {
        launching -= 1;
      },
    };
  };

  const launchNew = async (launch: Launch): Promise<RunCreated> => {
    const { projectId, body } = launch;
    const found = resolveRunRequest(store, projectId, body, context.clock.now());
    const planned = expandCases(found.cases, {
      suite: found.suite.content,
      servers: found.servers,
      iterationOverride: body.iterationOverride,
      matchOptionsOverride: body.matchOptionsOverride,
      iterationTimeoutMs: context.iterationTimeoutMs,
      llmCallsPerRun: limits.llmCallsPerRun,
    });
    using _slot = takeSlot();
    const targets = await connectTargets(
      planned.map(({ server }) => server),
      context,
    );
    // After the connection, as in the API: a server that is down is reported first.
    requireNamedServers(found.cases, found.servers);
    // It may have been deleted while the servers were connected to.
    if (body.suiteId !== undefined) requireSuite(store, projectId, body.suiteId);
    return startRun(context, launch, { found, planned, targets });
  };

  return {
    launch: async (projectId, body, key) => {
      // The project is part of the scope, wherever the request named it.
      const { idempotencyKey: _key, modelApiKeys: _modelApiKeys, projectId: _projectId, ...asked } = body;
      const subject = body.suiteId === undefined ? `name:${body.suiteName ?? ''}` : `suite:${body.suiteId}`;
      const request = describeRequest(`run:${projectId}:${subject}`, key, asked);
      if (request === undefined) return await launchNew({ projectId, body, request });
      const lane = JSON.stringify([request.scope, request.key]);
      // The same key twice at once: the later request waits for the earlier one and then finds its run.
      while (underWay.has(lane)) await underWay.get(lane)?.catch(() => {});
      const answer = findAnswer(store, request, z.custom<RunCreated>());
      if (answer !== undefined) {
        return { ...answer, status: store.runs.get(answer.runId)?.status ?? answer.status, deduped: true };
      }
      const launched = launchNew({ projectId, body, request });
      underWay.set(lane, launched);
      try {
        return await launched;
      } finally {
        underWay.delete(lane);
      }
    },
  };
}

/** Records a run with all its iterations, in one transaction, and sets the runner on it. */
function startRun(
  { store, clock, runner, scheduling }: ServiceContext,
  { projectId, body, request }: Launch,
  plan: { found: RunRequest; planned: readonly PlannedCase[]; targets: ReadonlyMap<string, ConnectedTarget> },
): RunCreated {
  const { suite, servers, upserted } = plan.found;
  const runId = createId('run');
  const cases = plan.planned.map((planned) => expandIterations(planned, plan.targets));
  const iterations = cases.flatMap((expanded) => expanded.iterations);
  const created: RunCreated = {
    runId,
    suiteId: suite.id,
    status: 'running',
    caseUpsert: { committed: upserted.map(({ id, content }) => ({ id, name: content.title })), failed: [] },
    servers: servers.map(({ id, content }) => ({ id, name: content.name })),
    environment: null,
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
      now: clock.now(),
    });
    for (const [position, { id, caseId, iterationNumber, testCase }] of iterations.entries()) {
      store.iterations.insert({ runId, position, id, caseId, title: testCase.title, iterationNumber });
    }
    keepAnswer(store, request, created);
  });
  const { batches, report } = scheduleCases(cases, scheduling.getConcurrency(suite.id));
  scheduling.onScheduled(runId, report);
  runner.start(runId, batches);
  return created;
}

function expandIterations({ caseId, testCase, server }: PlannedCase, targets: ReadonlyMap<string, ConnectedTarget>) {
  const connected = targets.get(server.id);
  if (connected === undefined) throw new Error(`Server ${server.id} was planned for and never connected to.`);
  const { target, readOnlyTools } = connected;
  const iterations = Array.from({ length: testCase.runs }, (_, index) => ({
    id: createId('iter'),
    caseId,
    iterationNumber: index + 1,
    testCase,
    serverId: server.id,
    target,
  }));
  return { testCase, readOnlyTools, iterations };
}
