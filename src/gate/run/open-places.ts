import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { SideDirectories } from '../../server/side-directories.ts';
import { makeTemporaryRoot, removeTree } from '../../server/temporary-root.ts';
import { createPlaces, type Places } from '../../workspace/place.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import type { GatePlan } from '../plan/plan.ts';
import { hasWorkspace, listWorkspaces } from '../plan/suite-workspaces.ts';
import { usesWorkspace } from '../plan/workspace-issues.ts';

const prefix = 'mcp-eval-ci-places-';

type PlacedPlan = Pick<GatePlan, 'suites' | 'servers' | 'behaviour'>;

/**
 * Finds the files for processes that serve no iteration; null if they need no place. With a suite that shares the server's files, they work
 * among these. Without evals, a server that is started with the path of a workspace gets that of the behaviour.
 */
export function findInitialFiles({ suites, servers, behaviour }: PlacedPlan): Workspace | null {
  if (suites.length > 0) return suites.every(hasWorkspace) ? (listWorkspaces(suites)[0]?.files ?? null) : null;
  return behaviour !== null && servers.some(usesWorkspace) ? behaviour.workspace : null;
}

/**
 * Makes the directory in which processes get their copies of workspaces; null if none needs one. The places of a side are in its own
 * directories, which the other side cannot write to. Disposing it removes the directory.
 */
export function openPlaces(
  plan: PlacedPlan,
  side: Pick<SideDirectories, 'temporary'> | null,
): (Places & Disposable) | null {
  if (listWorkspaces(plan.suites).length === 0 && findInitialFiles(plan) === null) return null;
  const root = side === null ? makeTemporaryRoot(prefix) : join(side.temporary, 'places');
  mkdirSync(root, { recursive: true });
  return { ...createPlaces(root), [Symbol.dispose]: () => removeTree(root) };
}
