import { Hono } from 'hono';
import { z } from 'zod';
import type { ApiEnv } from '../callers.ts';
import type { Clock } from '../../../../src/base/time.ts';
import { defaultMatchOptions } from '../../../../src/cases/case.ts';
import { type BodySchemas, createSuiteContent } from '../bodies/stored-suite.ts';
import { ApiError } from '../envelope.ts';
import { createId } from '../../../../src/base/ids.ts';
import { type BodyReader, describeRequest, findAnswer, keepAnswer, readIdempotencyKey, readLimit } from '../request.ts';
import { requireProject, requireServer, requireSuite } from '../lookup.ts';
import type { Runner } from '../../../../src/runner/runner.ts';
import { createCaseRecord } from '../store/case-store.ts';
import type { Store } from '../store/open-store.ts';
import type { SuiteRecord } from '../store/suite-store.ts';
import { renderRun, renderSummary } from './runs-routes.ts';

const list = '/projects/:projectId/eval-suites';
const one = `${list}/:suiteId`;

/** Creates the routes for suites, without their cases. */
export function createSuiteRoutes({
  store,
  clock,
  bodies,
  readBody,
  runner,
}: {
  store: Store;
  clock: Clock;
  bodies: BodySchemas;
  readBody: BodyReader;
  runner: Pick<Runner, 'isActive'>;
}): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();

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

  routes.get(list, (c) => {
    const project = requireProject(store, c.req.param('projectId'));
    return c.json({ items: store.suites.list(project.id).map((suite) => renderSuiteSummary(store, suite)) });
  });

  routes.post(list, async (c) => {
    const projectId = requireProject(store, c.req.param('projectId')).id;
    const body = await readBody(c, bodies.suites.create);
    const request = describeRequest(`suite:${projectId}`, readIdempotencyKey(c.req), body);
    const answered = findAnswer(store, request, z.looseObject({}));
    if (answered !== undefined) return c.json(answered, 201);

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
      keepAnswer(store, request, answer);
    });
    return c.json(answer, 201);
  });

  routes.get(one, (c) => {
    const project = requireProject(store, c.req.param('projectId'));
    return c.json(renderSuiteDetail(store, requireSuite(store, project.id, c.req.param('suiteId'))));
  });

  routes.delete(one, (c) => {
    const project = requireProject(store, c.req.param('projectId'));
    const suite = requireSuite(store, project.id, c.req.param('suiteId'));
    refuseExecuting(suite.id);
    store.suites.delete(suite.id);
    return c.json({ id: suite.id, deleted: true });
  });

  routes.get(`${one}/runs`, (c) => {
    const project = requireProject(store, c.req.param('projectId'));
    const suite = requireSuite(store, project.id, c.req.param('suiteId'));
    const limit = readLimit(c.req, { max: 100, standard: 25 });
    return c.json({ items: store.runs.listOfSuite(suite.id, limit).map(renderRun) });
  });
  return routes;
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
