import type { Caller } from './callers.ts';
import { invalid, notFound } from './envelope.ts';
import type { CaseRecord } from './store/case-store.ts';
import type { Store } from './store/open-store.ts';
import type { ProjectRecord } from './store/projects.ts';
import type { RunRecord } from './store/run-store.ts';
import type { ServerRecord } from './store/server-store.ts';
import type { SuiteRecord } from './store/suite-store.ts';

/**
 * Finds records by the ids of a path or a body. Each function throws NOT_FOUND for a record that does not exist or belongs to another
 * project or suite: both must look the same.
 */
export function requireProject(store: Store, projectId: string): ProjectRecord {
  const project = store.projects.get(projectId);
  if (project === undefined) throw notFound('Project');
  return project;
}

/** Finds a project that a query names. A project of another organization than the caller's counts as missing. */
export function requireMemberProject(store: Store, projectId: string, { organizationId }: Caller): ProjectRecord {
  const project = requireProject(store, projectId);
  if (project.content.organizationId !== organizationId) throw notFound('Project');
  return project;
}

/** Finds the project that a path names. Where the operation allows it, `default` means the oldest project of the caller's organization. */
export function requireNamedProject(
  store: Store,
  projectId: string,
  { caller, hasDefaultProject }: { caller: Caller; hasDefaultProject: boolean },
): ProjectRecord {
  if (!hasDefaultProject || projectId !== 'default') return requireProject(store, projectId);
  const [project] = listOwnProjects(store, caller);
  if (project === undefined) throw notFound('Project');
  return project;
}

/** Lists the projects of the caller's organization, oldest first. */
export function listOwnProjects(store: Store, { organizationId }: Caller): ProjectRecord[] {
  return store.projects.list().filter(({ content }) => content.organizationId === organizationId);
}

export function requireServer(store: Store, projectId: string, serverId: string): ServerRecord {
  const server = store.servers.get(projectId, serverId);
  if (server === undefined) throw notFound('Server');
  return server;
}

/** Finds a server by its id or its name: answers of the API contain both. */
export function requireNamedServer(store: Store, projectId: string, idOrName: string): ServerRecord {
  const server = store.servers.get(projectId, idOrName) ?? store.servers.getByName(projectId, idOrName);
  if (server === undefined) throw notFound(`Server ${JSON.stringify(idOrName)}`);
  return server;
}

export function requireSuite(store: Store, projectId: string, suiteId: string): SuiteRecord {
  const suite = store.suites.get(projectId, suiteId);
  if (suite === undefined) throw notFound('Suite');
  return suite;
}

export function requireCase(store: Store, suite: SuiteRecord, caseId: string): CaseRecord {
  const found = store.cases.get(suite.id, caseId);
  if (found === undefined) throw notFound('Case');
  return found;
}

export function requireRun(store: Store, projectId: string, runId: string): RunRecord {
  const run = store.runs.get(runId);
  if (run?.projectId !== projectId) throw notFound('Run');
  return run;
}

/**
 * Finds the project that a short path means: that of its run, else the one that the body names, else the only project of the caller's
 * organization. A run or project of another organization counts as missing.
 *
 * @throws {ApiError} VALIDATION_ERROR if there are several projects and none is named.
 */
export function requireMeantProject(
  store: Store,
  { runId, projectId }: { runId?: string | undefined; projectId?: unknown },
  caller: Caller,
): ProjectRecord {
  if (runId !== undefined) {
    const run = store.runs.get(runId);
    const project = run && store.projects.get(run.projectId);
    if (project?.content.organizationId !== caller.organizationId) throw notFound('Run');
    return project;
  }
  if (typeof projectId === 'string') return requireMemberProject(store, projectId, caller);
  const [project, ...others] = listOwnProjects(store, caller);
  if (project === undefined) throw notFound('Project');
  if (others.length > 0) throw invalid('projectId: Required, since the key reaches several projects');
  return project;
}
