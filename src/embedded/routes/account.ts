import { Hono } from 'hono';
import type { Clock } from '../../base/time.ts';
import { accountOperations } from '../../service/operations/account.ts';
import type { ApiEnv, Caller } from '../callers.ts';
import { createId } from '../id.ts';
import type { BodyReader } from '../request.ts';
import type { Store } from '../store/open.ts';
import type { ProjectRecord } from '../store/projects.ts';

/** `/me` and `/projects`. */
export function createAccountRoutes({
  store,
  clock,
  readBody,
}: {
  store: Store;
  clock: Clock;
  readBody: BodyReader;
}): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();
  routes.get('/me', (c) => c.json({ ...c.var.caller.user, plan: 'local' }));

  routes.get('/projects', (c) => {
    const { caller } = c.var;
    const asked = c.req.query('organizationId') ?? caller.organizationId;
    const projects = store.projects.list().filter(({ content }) => content.organizationId === caller.organizationId);
    return c.json({
      items: asked === caller.organizationId ? projects.map((project) => renderProject(project, caller)) : [],
    });
  });

  routes.post('/projects', async (c) => {
    const { caller } = c.var;
    const { name, description, icon, visibility } = await readBody(c.req, accountOperations.createProject.body);
    const content = {
      organizationId: caller.organizationId,
      description: description ?? null,
      icon: icon ?? null,
      visibility: visibility ?? 'private',
    };
    const project = { id: createId('prj'), name, content, now: clock.now() };
    store.projects.insert(project);
    return c.json(renderProject({ ...project, createdAt: project.now, updatedAt: project.now }, caller), 201);
  });
  return routes;
}

/** A project as it is read. */
export function renderProject({ id, name, content, createdAt, updatedAt }: ProjectRecord, { role }: Caller) {
  return { id, name, ...content, role, createdAt, updatedAt };
}
