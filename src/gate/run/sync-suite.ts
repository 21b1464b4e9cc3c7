import { ServiceError } from '../../base/errors.ts';
import { stepServerName, type Suite } from '../../model/suite.ts';
import { deleteCase, listCases, updateCase } from '../../service/cases.ts';
import { describeSync, planSync, type SyncPlan } from '../../suite/sync.ts';
import type { FileSuite } from '../plan/plan-suites.ts';
import type { ConnectedService } from './connect-service.ts';

/** The suites that a project keeps. */
interface StoredSuites {
  service: Pick<ConnectedService, 'client' | 'projectId'>;
  signal: AbortSignal;
}

/** Compares the cases that the service keeps with the file's. */
export async function planStoredSync(
  { suite }: FileSuite,
  suiteId: string,
  { service: { client, projectId }, whole, signal }: StoredSuites & { whole: Suite },
): Promise<SyncPlan> {
  const stored = await listCases(client, { projectId, suiteId, signal });
  const sync = planSync(whole, stored, { serverName: stepServerName });
  // A case that was not selected does not become part of the suite before it is run.
  const selected = new Set(suite.cases.map(({ id }) => id));
  return { ...sync, create: sync.create.filter(({ id }) => selected.has(id)) };
}

/** Says what is going to be changed: a title, and a line per case. */
export function describeChanges(sync: SyncPlan, suiteName: string): [title: string, lines: string[]] {
  const [title = suiteName, ...lines] = describeSync(sync, { suiteName });
  return [title.replace(/\.$/, ''), lines.map((line) => line.trimStart())];
}

/** Changes and deletes what the service keeps; new cases are created by the run itself. */
export async function applySync(
  sync: SyncPlan,
  suiteId: string,
  { service: { client, projectId }, signal }: StoredSuites,
): Promise<void> {
  for (const { caseId, changes } of sync.update) {
    await updateCase(client, { projectId, suiteId, caseId, changes, signal });
  }
  for (const { caseId } of sync.delete) {
    await deleteCase(client, { projectId, suiteId, caseId, signal }).catch((error: unknown) => {
      // Another job of the matrix has deleted it already.
      if (!(error instanceof ServiceError && error.status === 404)) throw error;
    });
  }
}
