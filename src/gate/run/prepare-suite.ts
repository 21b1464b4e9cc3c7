import { caseOperations } from '../../service/operations/cases.ts';
import { callOperation } from '../../service/call-operation.ts';
import { randomUUID } from 'node:crypto';
import { ConfigurationError, ProtocolError, ServiceError } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import { formatCount } from '../../base/text.ts';
import { toPercent } from '../../model/rate.ts';
import type { Suite } from '../../cases/suite.ts';
import { suiteOperations } from '../../service/operations/suites.ts';
import { findOldestSuite } from '../../service/suite-client.ts';
import { compileSuite } from '../../suite/compile.ts';
import type { Dialect } from '../../suite/dialect.ts';
import { outlineSuite } from '../../suite/manifest.ts';
import { describeSync, planSync, type SyncPlan } from '../../suite/sync.ts';
import type { FileSuite } from '../plan/plan-suites.ts';
import type { HostedProject } from './hosted-project.ts';
import type { RegisteredServer } from './job-tunnel.ts';
import type { PreparedSuite } from './prepared-suite.ts';

/** The API requires a model for every suite. No case of such a suite has a step that would call it. */
const modelOfToolOnlySuites = 'none/none';

interface FileSync {
  service: HostedProject;
  servers: ReadonlyArray<Pick<RegisteredServer, 'id' | 'alias'>>;
  logger: Logger;
  signal: AbortSignal;
}

/**
 * Writes an evals file to the service: creates its suite, or makes the cases of the existing suite equal to the file's. Logs the changes
 * before it makes them.
 */
export async function prepareFileSuite(
  planned: FileSuite,
  { service, servers, logger, signal }: FileSync,
): Promise<PreparedSuite> {
  const { client, projectId } = service;
  const { suite, whole, hostedName, requirements } = planned;
  const { dialect } = client.profile;
  const passCriteria = { minimumPassRate: toPercent(requirements.minimumPassRate.value) };
  const base = {
    outline: outlineSuite(suite, whole),
    requirements,
    judgedHere: dialect === 'embedded' ? null : { suite, dialect },
  };
  const serverSelection = { serverIds: servers.map(({ id }) => id), serverNames: servers.map(({ alias }) => alias) };

  const stored = await findOldestSuite(client, { projectId, name: hostedName, signal });
  if (stored === undefined) {
    logger.group(`${hostedName} is created`, listTitles(suite));
    const created = await createFileSuite(planned, dialect, { service, servers, signal });
    const run = { ...serverSelection, passCriteria };
    return { ...base, ...created, run, written: [] };
  }
  const tests = compileSuite(suite, { dialect });
  const sync = await planStoredSync(planned, stored.id, { service, whole, signal });
  logger.group(...describeChanges(sync, hostedName));
  await applySync(sync, stored.id, { service, signal });
  return {
    ...base,
    suiteId: stored.id,
    caseIds: new Map(),
    // The run creates new cases, and sends what the cases' own routes cannot.
    run: { ...serverSelection, passCriteria, tests },
    written: suite.cases,
  };
}

/** Creates the suite with the selected cases. */
async function createFileSuite(
  { suite, hostedName }: FileSuite,
  dialect: Dialect,
  { service: { client, projectId }, servers, signal }: Omit<FileSync, 'logger'>,
): Promise<{ suiteId: string; caseIds: ReadonlyMap<string, string> }> {
  const fields = {
    projectId,
    name: hostedName,
    serverIds: servers.map(({ id }) => id),
    ...(servers.length > 1 && { serverNames: servers.map(({ alias }) => alias) }),
    model: suite.model ?? modelOfToolOnlySuites,
    tests: compileSuite(suite, { dialect }),
  };
  const once = { idempotencyKey: randomUUID(), isSetup: true, signal };
  const created = await callOperation(client, suiteOperations.createEvalSuite, fields, once);
  return { suiteId: created.suiteId, caseIds: matchWritten(suite.cases, created.caseUpsert) };
}

interface CaseUpsert {
  committed?: ReadonlyArray<{ id?: string | null | undefined; name?: string | null | undefined }> | null | undefined;
  failed?: ReadonlyArray<{ name?: string | null | undefined; error?: string | null | undefined }> | null | undefined;
}

/**
 * Maps the service's ids of cases to the gate's: the service lists them in the order in which they were sent.
 *
 * @throws {ProtocolError} naming the cases that it refused: a run without them would judge less than was requested
 */
export function matchWritten(
  cases: ReadonlyArray<{ id: string; title: string }>,
  { committed, failed }: CaseUpsert,
): ReadonlyMap<string, string> {
  const refused = (failed ?? []).map(({ name, error }) => `${name ?? 'unnamed'}: ${error ?? 'no reason given'}`);
  const written = committed ?? [];
  // A run of an unchanged suite writes nothing, whatever its receipt lists. A receipt without a list says nothing about the cases; their
  // results are then matched by title.
  const isComplete = cases.length === 0 || committed == null || written.length === cases.length;
  if (!isComplete || refused.length > 0) {
    const known = new Set(written.map(({ name }) => name));
    const missing = cases.filter(({ title }) => !known.has(title)).map(({ title }) => title);
    const details = refused.length > 0 ? refused : missing;
    throw new ProtocolError(
      `The service took ${written.length} of ${formatCount(cases.length, 'case')}. ${details.join('; ')}`.trimEnd(),
    );
  }
  return new Map(
    cases.flatMap(({ id: caseId }, index) => {
      const id = written[index]?.id;
      return id ? [[id, caseId] as const] : [];
    }),
  );
}

function listTitles({ cases }: Suite): string[] {
  return cases.map(({ title }) => `+ ${title}`);
}

/** Refuses the name of something that the service does not keep. */
export function refuseUnknown(input: string, message: string): ConfigurationError {
  return new ConfigurationError([{ input, code: `bad-${input}`, message }]);
}

/** The suites that a project keeps. */
interface StoredSuites {
  service: HostedProject;
  signal: AbortSignal;
}

/** Compares the cases that the service keeps with the file's. */
export async function planStoredSync(
  { suite }: FileSuite,
  suiteId: string,
  { service: { client, projectId }, whole, signal }: StoredSuites & { whole: Suite },
): Promise<SyncPlan> {
  const place = { projectId, suiteId };
  const { items: stored } = await callOperation(client, caseOperations.listEvalCases, place, { signal });
  const sync = planSync(whole, stored, { dialect: client.profile.dialect });
  // A case that is not selected is not added to the suite before it runs.
  const selected = new Set(suite.cases.map(({ id }) => id));
  return { ...sync, create: sync.create.filter(({ id }) => selected.has(id)) };
}

/** Describes the planned changes: a title, and a line per case. */
export function describeChanges(sync: SyncPlan, suiteName: string): [title: string, lines: string[]] {
  const [title = suiteName, ...lines] = describeSync(sync, { suiteName });
  return [title.replace(/\.$/, ''), lines.map((line) => line.trimStart())];
}

/** Changes and deletes the service's cases; the run itself creates new ones. */
async function applySync(
  sync: SyncPlan,
  suiteId: string,
  { service: { client, projectId }, signal }: StoredSuites,
): Promise<void> {
  // Deletes first: a case may get the content of a deleted case, and the service refuses duplicates.
  for (const { caseId } of sync.delete) {
    await callOperation(client, caseOperations.deleteEvalCase, { projectId, suiteId, caseId }, { signal }).catch(
      (error: unknown) => {
        // Another job of the matrix has deleted it already.
        if (!(error instanceof ServiceError && error.status === 404)) throw error;
      },
    );
  }
  for (const { caseId, changes } of sync.update) {
    const fields = { ...changes, projectId, suiteId, caseId };
    await callOperation(client, caseOperations.updateEvalCase, fields, { signal });
  }
}
