import type { Clock } from '../../../../src/base/time.ts';
import { accountOperations } from '../../../../src/service/operations/account.ts';
import { requireProject } from '../lookup.ts';
import type { ServeOperation } from '../operation-routes.ts';
import type { RelayEdge } from '../../../../src/tunnel/relay/edge.ts';
import type { Runner } from '../../../../src/runner/runner.ts';
import type { Store } from '../store/open-store.ts';
import { renderProject } from './account-routes.ts';

/** Serves changes of projects. */
export function serveProjects(
  serve: ServeOperation,
  {
    store,
    clock,
    runner,
    relay,
  }: { store: Store; clock: Clock; runner: Pick<Runner, 'cancel'>; relay: Pick<RelayEdge, 'revoke'> },
): void {
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
