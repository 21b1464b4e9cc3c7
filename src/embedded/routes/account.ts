import { Hono } from 'hono';
import { z } from 'zod';
import type { Clock } from '../../base/time.ts';
import { createId } from '../id.ts';
import type { BodyReader } from '../request.ts';
import type { Store } from '../store/open.ts';
import type { ProjectRecord } from '../store/projects.ts';

/** There is one user and one organization: the holder of the key. */
const me = { id: 'user_local', email: 'local@localhost', name: 'Local user', plan: 'local' };
const organizationId = 'org_local';

const projectCreateSchema = z.strictObject({
  name: z.string().trim().min(1),
  description: z.string().exactOptional(),
  organizationId: z.literal(organizationId).exactOptional(),
  icon: z.string().exactOptional(),
  visibility: z.enum(['public', 'private']).exactOptional(),
});

/** `/me` and `/projects`. */
export function createAccountRoutes({
  store,
  clock,
  readBody,
}: {
  store: Store;
  clock: Clock;
  readBody: BodyReader;
}): Hono {
  const routes = new Hono();
  routes.get('/me', (c) => c.json(me));

  routes.get('/projects', (c) => {
    const asked = c.req.query('organizationId') ?? organizationId;
    return c.json({ items: asked === organizationId ? store.projects.list().map(renderProject) : [] });
  });

  routes.post('/projects', async (c) => {
    const { name, description, icon, visibility } = await readBody(c.req, projectCreateSchema);
    const project = {
      id: createId('prj'),
      name,
      content: { description: description ?? null, icon: icon ?? null, visibility: visibility ?? 'private' },
      now: clock.now(),
    };
    store.projects.insert(project);
    return c.json(renderProject({ ...project, createdAt: project.now, updatedAt: project.now }), 201);
  });
  return routes;
}

function renderProject({ id, name, content, createdAt, updatedAt }: ProjectRecord) {
  return { id, name, ...content, organizationId, role: 'admin', createdAt, updatedAt };
}
