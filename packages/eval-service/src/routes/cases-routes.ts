import { Hono } from 'hono';
import { z } from 'zod';
import type { ApiEnv } from '../callers.ts';
import type { Clock } from '../../../../src/base/time.ts';
import { defaultMatchOptions } from '../../../../src/cases/case.ts';
import {
  type CaseContent,
  declaredIdPattern,
  patchCaseContent,
  toCaseContent,
} from '../../../../src/service/bodies/case-body.ts';
import type { BodySchemas } from '../bodies/stored-suite.ts';
import { ApiError, invalid } from '../envelope.ts';
import {
  type BodyReader,
  describeRequest,
  findAnswer,
  keepAnswer,
  readIdempotencyKey,
  renderFirstIssue,
} from '../request.ts';
import { type DuplicatePolicy, duplicatePolicies, KnownCases } from '../known-cases.ts';
import { requireCase, requireProject, requireSuite } from '../lookup.ts';
import { type CaseRecord, createCaseRecord } from '../store/case-store.ts';
import type { Store } from '../store/open-store.ts';
import type { SuiteRecord } from '../store/suite-store.ts';

const list = '/projects/:projectId/eval-suites/:suiteId/cases';
const one = `${list}/:caseId`;

/** Creates the routes for single cases of a suite. */
export function createCaseRoutes({
  store,
  clock,
  bodies,
  readBody,
}: {
  store: Store;
  clock: Clock;
  bodies: BodySchemas;
  readBody: BodyReader;
}): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();

  const findSuite = ({ projectId, suiteId }: { projectId: string; suiteId: string }): SuiteRecord =>
    requireSuite(store, requireProject(store, projectId).id, suiteId);

  routes.get(list, (c) => c.json({ items: store.cases.list(findSuite(c.req.param()).id).map(renderCase) }));

  routes.post(list, async (c) => {
    const suite = findSuite(c.req.param());
    const body = await readBody(c, bodies.cases.create);
    if (body.id !== undefined && store.cases.getDeclared(suite.id, body.id) !== undefined) {
      throw new ApiError('CONFLICT', `The suite has a case with id ${JSON.stringify(body.id)} already.`, {
        details: { reason: 'DUPLICATE_CASE_ID' },
      });
    }
    const record = createCaseRecord(suite.id, toCaseContent(body), clock.now(), { declaredId: body.id });
    store.cases.insert(record);
    return c.json(renderCase(record), 201);
  });

  routes.get(one, (c) => c.json(renderCase(requireCase(store, findSuite(c.req.param()), c.req.param('caseId')))));

  routes.patch(one, async (c) => {
    const before = requireCase(store, findSuite(c.req.param()), c.req.param('caseId'));
    const patch = await readBody(c, bodies.cases.patch);
    const after = { ...before, content: patchCaseContent(before.content, patch), updatedAt: clock.now() };
    const others = new KnownCases(store.cases.list(before.suiteId).filter(({ id }) => id !== before.id));
    if (others.hasContent(after.content) && !others.hasContent(before.content)) {
      throw new ApiError('CONFLICT', 'Another case of the suite says the same.', {
        details: { reason: 'DUPLICATE_CONTENT' },
      });
    }
    store.cases.update(after);
    return c.json(renderCase(after));
  });

  routes.delete(one, (c) => {
    const suite = findSuite(c.req.param());
    const { id } = requireCase(store, suite, c.req.param('caseId'));
    if (suite.content.schedule?.enabled === true && store.cases.list(suite.id).length === 1) {
      throw new ApiError('CONFLICT', 'It is the only case of a suite with a schedule; disable the schedule first.');
    }
    store.cases.delete(id);
    return c.json({ id, deleted: true });
  });
  return routes;
}

/** Renders a case in the vocabulary of cases. Leaves out settings that only inline tests have. */
export function renderCase({ id, declaredId, content, createdAt, updatedAt }: CaseRecord) {
  const { advancedConfig: _advancedConfig, matchOptions, ...shown } = content;
  return {
    id,
    declaredId,
    ...shown,
    ...(matchOptions === undefined ? {} : { matchOptions: { ...defaultMatchOptions, ...matchOptions } }),
    createdAt,
    updatedAt,
  };
}

interface BatchAnswer {
  created: Array<{
    index: number;
    id: string;
    declaredId: string;
    title: string;
    replayed: boolean;
    warnings?: string[];
  }>;
  failed: Array<{ index: number; title?: string; declaredId?: string; code: string; message: string }>;
  duplicatePolicy: { requestedPolicy?: string; effectivePolicy: DuplicatePolicy; coerced: boolean };
}

/**
 * Creates the route for a batch of cases. Each case succeeds or fails separately: the answer lists both kinds, and its status is always 201.
 * Two cases are duplicates if they have the same content, whatever their titles.
 */
export function createCaseBatchRoutes({
  store,
  clock,
  bodies,
  readBody,
}: {
  store: Store;
  clock: Clock;
  bodies: BodySchemas;
  readBody: BodyReader;
}): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();

  routes.post('/projects/:projectId/eval-suites/:suiteId/cases/batch', async (c) => {
    const project = requireProject(store, c.req.param('projectId'));
    const suite = requireSuite(store, project.id, c.req.param('suiteId'));
    const body = await readBody(c, bodies.cases.batch);
    const duplicatePolicy = readPolicy(body.duplicatePolicy);
    if (duplicatePolicy.effectivePolicy === 'create_anyway' && body.overrideReason === undefined) {
      throw invalid('overrideReason: Required with create_anyway', { reason: 'OVERRIDE_REASON_REQUIRED' });
    }
    const request = describeRequest(`cases:${suite.id}`, readIdempotencyKey(c.req), body);
    const answered = findAnswer(store, request, z.custom<BatchAnswer>());
    if (answered !== undefined) {
      return c.json({ ...answered, created: answered.created.map((item) => ({ ...item, replayed: true })) }, 201);
    }

    const answer: BatchAnswer = { created: [], failed: [], duplicatePolicy };
    const known = new KnownCases(store.cases.list(suite.id));
    store.transact(() => {
      for (const [index, item] of body.cases.entries()) {
        const read = readItem(item, bodies.cases.create);
        if ('code' in read) {
          answer.failed.push({ index, ...read });
          continue;
        }
        const { content, declaredId } = read;
        const refusal = known.refuse(content, declaredId, duplicatePolicy.effectivePolicy);
        const { title } = content;
        if (refusal !== undefined) {
          answer.failed.push({ index, title, ...(declaredId === undefined ? {} : { declaredId }), ...refusal });
          continue;
        }
        const warnings = known.hasContent(content) ? ['Another case of the suite says the same.'] : [];
        const record = createCaseRecord(suite.id, content, clock.now(), { declaredId });
        store.cases.insert(record);
        known.add(record);
        const created = { index, id: record.id, declaredId: record.declaredId, title, replayed: false };
        answer.created.push(warnings.length === 0 ? created : { ...created, warnings });
      }
      keepAnswer(store, request, answer);
    });
    return c.json(answer, 201);
  });
  return routes;
}

function readPolicy(requested: string | undefined): BatchAnswer['duplicatePolicy'] {
  if (requested === undefined) return { effectivePolicy: 'block', coerced: false };
  const known = duplicatePolicies.find((policy) => policy === requested);
  return { requestedPolicy: requested, effectivePolicy: known ?? 'block', coerced: known === undefined };
}

type ReadItem =
  | { content: CaseContent; declaredId: string | undefined }
  | { code: string; message: string; title?: string; declaredId?: string };

function readItem(item: unknown, schema: BodySchemas['cases']['create']): ReadItem {
  const named = z.looseObject({ title: z.unknown().optional(), id: z.unknown().optional() }).safeParse(item);
  if (!named.success) return { code: 'INVALID_ITEM', message: 'Expected an object.' };
  const { title, id } = named.data;
  const label = {
    ...(typeof title === 'string' ? { title } : {}),
    ...(typeof id === 'string' ? { declaredId: id } : {}),
  };
  if (id !== undefined && !(typeof id === 'string' && declaredIdPattern.test(id))) {
    return { ...label, code: 'INVALID_CASE_ID', message: 'id: Expected 1 to 128 of A-Z, a-z, 0-9, _ and -' };
  }
  const parsed = schema.safeParse(item);
  if (!parsed.success) return { ...label, code: 'INVALID_CASE', message: renderFirstIssue(parsed.error) };
  return { content: toCaseContent(parsed.data), declaredId: parsed.data.id };
}
