import type { PlannedSuite } from './plan-suites.ts';
import type { PlannedWorkspace } from './plan-workspace.ts';

/** Checks if each iteration of a suite starts processes of its own. */
export function hasOwnProcesses(planned: PlannedSuite): boolean {
  return planned.kind === 'file' && (planned.workspace !== null || planned.upstream !== null);
}

/** Checks if the requests of a suite's server get recorded answers. */
export function hasUpstream(planned: PlannedSuite): boolean {
  return planned.kind === 'file' && planned.upstream !== null;
}

/** Checks if a suite gets a workspace for each iteration. */
export function hasWorkspace(planned: PlannedSuite): boolean {
  return planned.kind === 'file' && planned.workspace !== null;
}

/** Lists the workspaces of suites, in their order. */
export function listWorkspaces(suites: readonly PlannedSuite[]): PlannedWorkspace[] {
  return suites.flatMap((planned) => (planned.kind === 'file' ? (planned.workspace ?? []) : []));
}
