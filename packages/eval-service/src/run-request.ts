import { createSuiteContent, type RunCreateBody, type SuiteContent } from './bodies/stored-suite.ts';
import { invalid, notFound, notSupported } from './envelope.ts';
import { createId } from '../../../src/base/ids.ts';
import { requireServer, requireSuite } from './lookup.ts';
import { createCaseRecord, type CaseRecord } from './store/case-store.ts';
import type { Store } from './store/open-store.ts';
import type { RunEnvironment } from './store/run-store.ts';
import { serverUnderTest } from '../../../src/cases/step-server.ts';
import type { ServerRecord } from './store/server-store.ts';

/** A server in one run. */
export interface RunServer extends ServerRecord {
  /** The name in the run, in addition to the name of its record. */
  alias?: string;
}

/** Names a server of a run in messages and traces. The internal alias of the only server is not shown, because readers do not know it. */
export function nameRunServer({ alias = serverUnderTest, content }: RunServer): string {
  return alias === serverUnderTest ? content.name : alias;
}

/** The environment or host of a run. Its settings take precedence over those of the suite. */
export interface RunTarget {
  /** Null for the servers of the suite. */
  servers: readonly ServerRecord[] | null;
  /** Only the settings that the environment or host sets. */
  settings: Partial<Pick<SuiteContent, 'model' | 'systemPrompt' | 'temperature'>>;
  /** Instructions for models, in addition to the system prompt of each case; null for none. */
  skills: string | null;
  /** Null if the target is a host. */
  environment: RunEnvironment | null;
}

/**
 * Finds the target of a suite's run; null for the suite's own servers. `suite` is null if the request contains the suite.
 *
 * @throws {ApiError} as the contract says, for an environment or a host that the suite lacks or that cannot be used
 */
export type FindRunTarget = (
  projectId: string,
  suite: { id: string; content: SuiteContent } | null,
  body: RunCreateBody,
) => RunTarget | null;

/** A request for a run after all its references are found, and before anything is written. */
export interface RunRequest {
  /** With the settings of the environment or the host instead of those of the suite. */
  suite: { id: string; content: SuiteContent };
  environment: RunEnvironment | null;
  /** The skills of the target. */
  skills: string | null;
  /** The cases to run, in this order; at least one. */
  cases: CaseRecord[];
  servers: [RunServer, ...RunServer[]];
  /** The cases from the request's tests, in the order of the tests. */
  upserted: CaseRecord[];
  /** Writes the suite and the cases of the request. */
  write(): void;
}

/**
 * Distinguishes the three shapes of the body: only `suiteId` runs a suite unchanged; with `tests`, these are written into the suite (by
 * title) and run; `suiteName`, `tests` and `serverIds` create a new suite.
 *
 * @throws {ApiError} VALIDATION_ERROR, NOT_FOUND, FEATURE_NOT_SUPPORTED.
 */
export function resolveRunRequest(
  store: Store,
  projectId: string,
  body: RunCreateBody,
  { now, findTarget }: { now: number; findTarget: FindRunTarget },
): RunRequest {
  if (body.refreshSnapshot === true) throw notSupported('This service keeps no snapshots of suites: refreshSnapshot.');
  if (body.serverNames !== undefined && body.serverNames.length !== (body.serverIds?.length ?? 0)) {
    throw invalid('serverNames: Expected one for each of serverIds');
  }
  const base =
    body.suiteId === undefined
      ? resolveNewSuite(store, projectId, body, now)
      : resolveExistingSuite(store, projectId, { ...body, suiteId: body.suiteId }, now);
  const target = findTarget(projectId, body.suiteId === undefined ? null : base.suite, body);
  const [first, ...rest] = target?.servers ?? listOwnServers(store, projectId, { body, suite: base.suite.content });
  if (first === undefined) {
    throw invalid('The suite has no servers saved; send serverIds.', {
      reason: 'NO_SAVED_SERVER_SELECTION',
      suiteId: base.suite.id,
    });
  }
  for (const server of [first, ...rest]) requireReachable(server);
  const suite = { ...base.suite, content: { ...base.suite.content, ...target?.settings } };
  const cases = selectCases(base.cases, body.caseIds);
  const { environment = null, skills = null } = target ?? {};
  return { ...base, suite, environment, skills, cases, servers: [first, ...rest] };
}

type ResolvedSuite = Omit<RunRequest, 'servers' | 'environment' | 'skills'>;

/** Lists the servers that the request names, else the servers that the suite has saved. */
function listOwnServers(
  store: Store,
  projectId: string,
  { body, suite }: { body: RunCreateBody; suite: SuiteContent },
): RunServer[] {
  return (body.serverIds ?? suite.serverIds).flatMap((id, index): RunServer[] => {
    const alias = body.serverNames?.[index] ?? '';
    const found = findServer(store, projectId, id, body.serverIds !== undefined);
    return found.map((server) => (alias === '' ? server : { ...server, alias }));
  });
}

function resolveNewSuite(store: Store, projectId: string, body: RunCreateBody, now: number): ResolvedSuite {
  const { suiteName, suiteDescription, tests, serverIds } = body;
  if (suiteName === undefined) throw invalid('suiteId: Required, or else suiteName with tests and serverIds');
  if (tests === undefined) throw invalid('tests: Required with suiteName');
  if (serverIds === undefined) throw invalid('serverIds: Required with suiteName');
  const suite = {
    id: createId('ste'),
    content: createSuiteContent({ name: suiteName, description: suiteDescription, serverIds }),
  };
  const cases = tests.map((content) => createCaseRecord(suite.id, content, now));
  const write = () => {
    store.suites.insert({ ...suite, projectId, now });
    for (const record of cases) store.cases.insert(record);
  };
  return { suite, cases, upserted: cases, write };
}

function resolveExistingSuite(
  store: Store,
  projectId: string,
  body: RunCreateBody & { suiteId: string },
  now: number,
): ResolvedSuite {
  if (body.suiteName !== undefined) throw invalid('suiteName: Not allowed with suiteId');
  const suite = requireSuite(store, projectId, body.suiteId);
  const existing = store.cases.list(suite.id);
  if (body.tests === undefined) return { suite, cases: existing, upserted: [], write: () => {} };

  // Several cases with the same title are matched in order, each once.
  const unmatched = [...existing];
  const upserted = body.tests.map((content) => {
    const index = unmatched.findIndex((record) => record.content.title === content.title);
    const [match] = index === -1 ? [] : unmatched.splice(index, 1);
    return match === undefined ? createCaseRecord(suite.id, content, now) : { ...match, content, updatedAt: now };
  });
  const known = new Set(existing.map(({ id }) => id));
  const write = () => {
    for (const record of upserted) {
      if (known.has(record.id)) store.cases.update(record);
      else store.cases.insert(record);
    }
  };
  return { suite, cases: upserted, upserted, write };
}

/** Finds a server. A saved id of a deleted server is skipped; a server that the request names must exist. */
function findServer(store: Store, projectId: string, id: string, isNamed: boolean): ServerRecord[] {
  const server = isNamed ? requireServer(store, projectId, id) : store.servers.get(projectId, id);
  return server === undefined ? [] : [server];
}

/** @throws {ApiError} VALIDATION_ERROR for a disabled server. */
export function requireReachable({ content }: ServerRecord): void {
  const { name, enabled } = content;
  if (!enabled) throw invalid(`Server ${JSON.stringify(name)} is disabled.`);
}

/** Selects cases by the service's ids or the declared ids, in the order of the suite. */
function selectCases(cases: readonly CaseRecord[], caseIds: readonly string[] | undefined): CaseRecord[] {
  const known = new Set(cases.flatMap(({ id, declaredId }) => [id, declaredId]));
  const unknown = caseIds?.findIndex((caseId) => !known.has(caseId)) ?? -1;
  if (unknown !== -1) throw notFound(`caseIds.${unknown}: Case`);
  const wanted = caseIds === undefined ? known : new Set(caseIds);
  const selected = cases.filter(({ id, declaredId }) => wanted.has(id) || wanted.has(declaredId));
  if (selected.length === 0) throw invalid('The suite has no cases to run.');
  return selected;
}
