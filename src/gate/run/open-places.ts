import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { SideDirectories } from '../../server/side-directories.ts';
import { makeTemporaryRoot, removeTree } from '../../server/temporary-root.ts';
import { createPlaces, type Places } from '../../workspace/place.ts';
import { listWorkspaces } from '../plan/suite-workspaces.ts';
import type { PlannedSuite } from '../plan/plan-suites.ts';

const prefix = 'mcp-eval-ci-places-';

/**
 * Makes the directory in which iterations get their copies of workspaces; null if no suite has a workspace. The places of a side are in its
 * own directories, which the other side cannot write to. Disposing it removes the directory.
 */
export function openPlaces(
  suites: readonly PlannedSuite[],
  side: Pick<SideDirectories, 'temporary'> | null,
): (Places & Disposable) | null {
  if (listWorkspaces(suites).length === 0) return null;
  const root = side === null ? makeTemporaryRoot(prefix) : join(side.temporary, 'places');
  mkdirSync(root, { recursive: true });
  return { ...createPlaces(root), [Symbol.dispose]: () => removeTree(root) };
}
