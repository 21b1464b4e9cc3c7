import type { Clock } from '../../base/time.ts';
import { accountOperations } from '../../service/operations/account.ts';
import { requireProject } from '../lookup.ts';
import type { ServeOperation } from '../operation-routes.ts';
import type { Store } from '../store/open.ts';
import { renderProject } from './account.ts';

/** Changes of projects. */
export function serveProjects(serve: ServeOperation, { store, clock }: { store: Store; clock: Clock }): void {
  serve(accountOperations.updateProject, ({ ids, body, caller }) => {
    const before = requireProject(store, ids.projectId);
    const { name = before.name, ...changes } = body;
    const after = { ...before, name, content: { ...before.content, ...changes } };
    const now = clock.now();
    store.projects.update({ ...after, now });
    return renderProject({ ...after, updatedAt: now }, caller);
  });
}
