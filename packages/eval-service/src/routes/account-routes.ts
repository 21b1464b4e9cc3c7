import { Hono } from 'hono';
import type { Clock } from '../../../../src/base/time.ts';
import { accountOperations } from '../../../../src/service/operations/account.ts';
import type { ApiEnv, Caller } from '../callers.ts';
import { ApiError } from '../envelope.ts';
import { createId } from '../../../../src/base/ids.ts';
import type { ServiceLimits } from '../../../../src/service/api-limits.ts';
import type { BodyReader } from '../request.ts';
import type { Store } from '../store/open-store.ts';
import type { ProjectRecord } from '../store/projects.ts';

/** Creates the routes `/me` and `/projects`. */
export function createAccountRoutes({
  store,
  clock,
  readBody,
  limits,
}: {
  store: Store;
  clock: Clock;
  readBody: BodyReader;
  limits: Pick<ServiceLimits, 'maxProjects'>;
}): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();
  const listProjects = (organizationId: string) =>
    store.projects.list().filter(({ content }) => content.organizationId === organizationId);

  routes.get('/me', (c) => c.json({ ...c.var.caller.user, plan: 'local' }));

  routes.get('/projects', (c) => {
    const { caller } = c.var;
    const asked = c.req.query('organizationId') ?? caller.organizationId;
    const projects = listProjects(caller.organizationId);
    return c.json({
      items: asked === caller.organizationId ? projects.map((project) => renderProject(project, caller)) : [],
    });
  });

  routes.post('/projects', async (c) => {
    const { caller } = c.var;
    const { name, description, icon, visibility } = await readBody(c, accountOperations.createProject.body);
    requireRoom(listProjects(caller.organizationId).length, limits);
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

/** Refuses a new project at the limit. The code is not RATE_LIMITED, because waiting does not help. */
function requireRoom(currentValue: number, { maxProjects }: Pick<ServiceLimits, 'maxProjects'>): void {
  if (currentValue < maxProjects) return;
  const message = `The organization has ${currentValue} projects, and ${maxProjects} are allowed; delete one first.`;
  throw new ApiError('FORBIDDEN', message, {
    details: { limit: 'maxProjects', currentValue, allowedValue: maxProjects },
  });
}

/** Renders a project for its readers. */
export function renderProject({ id, name, content, createdAt, updatedAt }: ProjectRecord, { role }: Caller) {
  return { id, name, ...content, role, createdAt, updatedAt };
}
