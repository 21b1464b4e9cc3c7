import { Hono } from 'hono';
import { defaultMatchOptions } from '../../model/case.ts';
import { patchCaseContent, toCaseContent } from '../bodies/case.ts';
import type { ServiceContext } from '../context.ts';
import { ApiError } from '../envelope.ts';
import { requireCase, requireProject, requireSuite } from '../lookup.ts';
import { createCaseRecord, type CaseRecord } from '../store/cases.ts';
import type { SuiteRecord } from '../store/suites.ts';

const list = '/projects/:projectId/eval-suites/:suiteId/cases';
const one = `${list}/:caseId`;

/** Single cases of a suite. */
export function createCaseRoutes({ store, clock, bodies, readBody }: ServiceContext): Hono {
  const routes = new Hono();

  const findSuite = ({ projectId, suiteId }: { projectId: string; suiteId: string }): SuiteRecord =>
    requireSuite(store, requireProject(store, projectId).id, suiteId);

  routes.get(list, (c) => c.json({ items: store.cases.list(findSuite(c.req.param()).id).map(renderCase) }));

  routes.post(list, async (c) => {
    const suite = findSuite(c.req.param());
    const body = await readBody(c.req, bodies.cases.create);
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
    const patch = await readBody(c.req, bodies.cases.patch);
    const after = { ...before, content: patchCaseContent(before.content, patch), updatedAt: clock.now() };
    store.cases.update(after);
    return c.json(renderCase(after));
  });

  routes.delete(one, (c) => {
    const { id } = requireCase(store, findSuite(c.req.param()), c.req.param('caseId'));
    store.cases.delete(id);
    return c.json({ id, deleted: true });
  });
  return routes;
}

/** A case in the vocabulary of cases. What only inline tests can set is not shown. */
function renderCase({ id, declaredId, content, createdAt, updatedAt }: CaseRecord) {
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
