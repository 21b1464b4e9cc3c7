import { z } from 'zod';
import type { Clock } from '../../../../src/base/time.ts';
import { defaultMatchOptions } from '../../../../src/cases/case.ts';
import { runOperations } from '../../../../src/service/operations/runs.ts';
import { suiteOperations } from '../../../../src/service/operations/suites.ts';
import { createSuiteContent } from '../bodies/stored-suite.ts';
import { ApiError } from '../envelope.ts';
import { createId } from '../../../../src/base/ids.ts';
import { describeRequest, findAnswer, keepAnswer, readIdempotencyKey, readLimit } from '../request.ts';
import { requireServer, requireSuite } from '../lookup.ts';
import type { ServeOperation } from '../operation-routes.ts';
import type { Runner } from '../../../../src/runner/runner.ts';
import { createCaseRecord } from '../store/case-store.ts';
import type { Store } from '../store/open-store.ts';
import type { SuiteRecord } from '../store/suite-store.ts';
import { renderRun, renderSummary } from './runs-routes.ts';

/** Serves suites, without their cases. */
export function serveSuites(
  serve: ServeOperation,
  { store, clock, runner }: { store: Store; clock: Clock; runner: Pick<Runner, 'isActive'> },
): void {
  /** @throws {ApiError} CONFLICT while this service executes a run of the suite */
  const refuseExecuting = (suiteId: string): void => {
    const run = store.runs
      .listOfSuite(suiteId, 100)
      .find(({ id, status }) => status === 'running' && runner.isActive(id));
    if (run === undefined) return;
    throw new ApiError('CONFLICT', `Run ${run.id} of the suite is executing; cancel it first, or wait for its end.`, {
      details: { runId: run.id },
    });
  };

  serve(suiteOperations.listEvalSuites, ({ ids }) => ({
    items: store.suites.list(ids.projectId).map((suite) => renderSuiteSummary(store, suite)),
  }));

  serve(suiteOperations.createEvalSuite, ({ ids: { projectId }, body, request }) => {
    const keyed = describeRequest(`suite:${projectId}`, readIdempotencyKey(request), body);
    const answered = findAnswer(store, keyed, suiteOperations.createEvalSuite.answer);
    if (answered !== undefined) return answered;

    const servers = body.serverIds.map((serverId) => requireServer(store, projectId, serverId));
    const content = createSuiteContent({ ...body, minimumAccuracy: body.passCriteria?.minimumPassRate });
    const now = clock.now();
    const suite = { id: createId('ste'), projectId, content, now };
    const cases = body.tests.map((test) => createCaseRecord(suite.id, test, now));
    const answer = {
      suiteId: suite.id,
      name: content.name,
      servers: servers.map((server) => ({ id: server.id, name: server.content.name })),
      caseUpsert: { committed: cases.map(({ id, content: { title } }) => ({ id, name: title })), failed: [] },
    };
    store.transact(() => {
      store.suites.insert(suite);
      for (const record of cases) store.cases.insert(record);
      keepAnswer(store, keyed, answer);
    });
    return answer;
  });

  serve(suiteOperations.getEvalSuite, ({ ids }) =>
    renderSuiteDetail(store, requireSuite(store, ids.projectId, ids.suiteId)),
  );

  serve(suiteOperations.deleteEvalSuite, ({ ids }) => {
    const { id } = requireSuite(store, ids.projectId, ids.suiteId);
    refuseExecuting(id);
    store.suites.delete(id);
    return { id, deleted: true as const };
  });

  serve(runOperations.listEvalSuiteRuns, ({ ids, request }) => {
    const { id } = requireSuite(store, ids.projectId, ids.suiteId);
    const limit = readLimit(request, { max: 100, standard: 25 });
    return { items: store.runs.listOfSuite(id, limit).map(renderRun) };
  });
}

function renderSuiteSummary(store: Store, { id, projectId, content, createdAt, updatedAt }: SuiteRecord) {
  const [latest] = store.runs.listOfSuite(id, 1);
  const summary = latest && renderSummary(latest);
  return {
    id,
    name: content.name,
    projectId,
    createdAt,
    updatedAt,
    latestRun:
      latest === undefined
        ? null
        : { id: latest.id, status: latest.status, ...summary, total: undefined, createdAt: latest.createdAt },
    totals: store.runs.getTotals(id),
    passRateTrend: store.runs.listPassRates(id),
  };
}

/** Renders a suite with all its settings. */
export function renderSuiteDetail(store: Store, { id, projectId, content, createdAt, updatedAt }: SuiteRecord) {
  const { name, description, serverIds, model, minimumAccuracy, minimumIterations, matchOptions, checks } = content;
  const { systemPrompt, temperature, hosts = [], environmentIds = [], judge = {}, schedule } = content;
  const execution = {
    ...(model !== null && { model }),
    ...(systemPrompt !== undefined && { systemPrompt }),
    ...(temperature !== undefined && { temperature }),
  };
  const names = store.documents.open('host', z.object({ name: z.string() }));
  return {
    id,
    name,
    description,
    projectId,
    environment: { servers: serverIds, computerEnvironment: null },
    executionConfig: Object.keys(execution).length === 0 ? null : execution,
    hosts: hosts.flatMap(({ hostId, serverIds: servers }) => {
      const host = names.get(projectId, hostId);
      return host === undefined ? [] : [{ id: hostId, name: host.content.name, ...(servers && { servers }) }];
    }),
    environmentIds,
    settings: {
      minimumAccuracy,
      minimumIterations,
      matchOptions: matchOptions && { ...defaultMatchOptions, ...matchOptions },
      checks,
      judge: { enabled: false, ...judge },
    },
    schedule: {
      enabled: schedule?.enabled ?? false,
      intervalMinutes: schedule?.intervalMinutes ?? null,
      environmentId: schedule?.environmentId ?? null,
    },
    createdAt,
    updatedAt,
  };
}
