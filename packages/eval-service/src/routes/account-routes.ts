import type { Clock } from '../../../../src/base/time.ts';
import { accountOperations } from '../../../../src/service/operations/account.ts';
import type { Caller } from '../callers.ts';
import { ApiError } from '../envelope.ts';
import { createId } from '../../../../src/base/ids.ts';
import { listOwnProjects, requireProject } from '../lookup.ts';
import type { ServeOperation } from '../operation-routes.ts';
import type { RelayEdge } from '../../../../src/tunnel/relay/edge.ts';
import type { Runner } from '../../../../src/runner/runner.ts';
import type { ServiceLimits } from '../../../../src/service/api-limits.ts';
import type { Store } from '../store/open-store.ts';
import type { ProjectRecord } from '../store/projects.ts';

/** Serves the caller and the projects of its organization. */
export function serveAccount(
  serve: ServeOperation,
  {
    store,
    clock,
    limits,
    runner,
    relay,
  }: {
    store: Store;
    clock: Clock;
    limits: Pick<ServiceLimits, 'maxProjects'>;
    runner: Pick<Runner, 'cancel'>;
    relay: Pick<RelayEdge, 'revoke'>;
  },
): void {
  serve(accountOperations.getMe, ({ caller }) => ({ ...caller.user, plan: 'local' }));

  serve(accountOperations.listProjects, ({ caller, request }) => {
    const asked = request.query('organizationId') ?? caller.organizationId;
    const projects = asked === caller.organizationId ? listOwnProjects(store, caller) : [];
    return { items: projects.map((project) => renderProject(project, caller)) };
  });

  serve(accountOperations.createProject, ({ body, caller }) => {
    const { name, description, icon, visibility } = body;
    requireRoom(listOwnProjects(store, caller).length, limits);
    const content = {
      organizationId: caller.organizationId,
      description: description ?? null,
      icon: icon ?? null,
      visibility: visibility ?? 'private',
    };
    const project = { id: createId('prj'), name, content, now: clock.now() };
    store.projects.insert(project);
    return renderProject({ ...project, createdAt: project.now, updatedAt: project.now }, caller);
  });

  serve(accountOperations.updateProject, ({ ids, body, caller }) => {
    const before = requireProject(store, ids.projectId);
    const { name = before.name, ...changes } = body;
    const after = { ...before, name, content: { ...before.content, ...changes } };
    const now = clock.now();
    store.projects.update({ ...after, now });
    return renderProject({ ...after, updatedAt: now }, caller);
  });

  serve(accountOperations.deleteProject, ({ ids: { projectId } }) => {
    for (const runId of store.runs.listActive(projectId)) runner.cancel(runId);
    const servers = store.servers.list(projectId);
    store.transact(() => store.projects.delete(projectId));
    for (const { id } of servers) relay.revoke(id);
    return { id: projectId, deleted: true as const };
  });
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
function renderProject({ id, name, content, createdAt, updatedAt }: ProjectRecord, { role }: Caller) {
  return { id, name, ...content, role, createdAt, updatedAt };
}
