import { caseOperations } from '../../service/operations/cases.ts';
import { suiteOperations } from '../../service/operations/suites.ts';
import { callOperation } from '../../service/call-operation.ts';
import { ProtocolError } from '../../base/errors.ts';
import { createFindings } from '../../base/findings.ts';
import { defaultMinimum } from '../../model/policy.ts';
import type { Sourced } from '../../model/source.ts';
import { toPercent } from '../../model/rate.ts';
import type { CaseOutline, SuiteOutline } from '../../model/results.ts';
import { serverUnderTest } from '../../cases/step-server.ts';
import type { NewRun } from '../../service/run-client.ts';
import { findSuite } from '../../service/suite-client.ts';
import { suiteDetailSchema, type WireCase, type WireSuiteDetail } from '../../service/wire.ts';
import { explainAmbiguity, matchesName, type NamedCase } from '../../suite/select.ts';
import { hashStoredDefinition } from '../../suite/definition-hash.ts';
import type { RegisteredServer } from './job-tunnel.ts';
import type { HostedProject } from './hosted-project.ts';
import type { StoredSuite } from '../plan/plan-suites.ts';
import { resolveCaseNames } from '../plan/resolve-names.ts';
import { refuseUnknown } from './prepare-suite.ts';
import type { PreparedSuite } from './prepared-suite.ts';

/** Reads what the gate needs alone: a service that says the rest in another way runs the suite all the same. */
const getSuite = { ...suiteOperations.getEvalSuite, answer: suiteDetailSchema };

interface StoredRun {
  service: HostedProject;
  /** Empty if the suite runs on the servers saved in it. */
  servers: readonly RegisteredServer[];
  environmentId: string | null;
  signal: AbortSignal;
}

/**
 * Finds a suite that the service keeps, and plans its run. Changes nothing in it.
 *
 * @throws {ConfigurationError} if there is no such suite or case, or if its steps call servers that the job does not have
 */
export async function prepareStoredSuite(
  planned: StoredSuite,
  { service, servers, environmentId, signal }: StoredRun,
): Promise<PreparedSuite> {
  const { client, projectId } = service;
  const suiteId = await findStoredSuite(planned, { service, signal });
  const place = { projectId, suiteId };
  const detail = await callOperation(client, getSuite, place, { signal });
  const { items: stored } = await callOperation(client, caseOperations.listEvalCases, place, { signal });
  const wanted = selectStored(stored, planned.cases);
  const cases = stored.filter((item) => wanted.includes(item));
  const findings = createFindings();
  const requirements = resolveCaseNames(planned.requirements, cases.map(nameStored), findings);
  findings.throwIfAny();
  const minimum = requirements.minimumPassRate;
  const run: NewRun = {
    ...selectServers(cases, servers),
    ...(environmentId === null ? {} : { environmentId }),
    ...(planned.cases.length === 0 ? {} : { caseIds: cases.map(({ id }) => id) }),
    ...(planned.runs === null ? {} : { iterationOverride: planned.runs }),
    ...(minimum === null ? {} : { passCriteria: { minimumPassRate: toPercent(minimum.value) } }),
  };
  return {
    suiteId,
    outline: outlineStored(suiteId, detail.name ?? suiteId, { stored, cases }),
    requirements: { ...requirements, minimumPassRate: minimum ?? readMinimumAccuracy(detail) ?? defaultMinimum },
    caseIds: new Map(cases.map(({ id }) => [id, id])),
    run,
    written: [],
    judgedHere: null,
  };
}

/**
 * Reads the suite's own minimum; null if it has none.
 *
 * @throws {ProtocolError} if it is no percentage: a gate that read the fraction 0.9 as 0.9 % would pass nearly everything
 */
function readMinimumAccuracy({ id, name, settings }: WireSuiteDetail): Sourced<number> | null {
  const value = settings?.minimumAccuracy ?? null;
  if (value === null) return null;
  if (value === 0 || (value > 1 && value <= 100)) return { value: value / 100, source: 'the suite' };
  throw new ProtocolError(
    `The service stores ${value} as the minimum pass rate of the suite ${JSON.stringify(name ?? id)}, which must be a percentage from 0 to 100${value > 0 && value <= 1 ? ' and could be a fraction' : ''}.`,
    {
      path: 'settings.minimumAccuracy',
      hint: 'Set the percentage in the suite, such as 90, or give the gate `min-pass-rate`.',
    },
  );
}

/** @throws {ConfigurationError} if the project has no suite with that id or name */
export async function findStoredSuite(
  { suite }: StoredSuite,
  { service: { client, projectId }, signal }: Pick<StoredRun, 'service' | 'signal'>,
): Promise<string> {
  const found = await findSuite(client, { projectId, suite, signal });
  if (found !== undefined) return found.id;
  throw refuseUnknown('suite', `The project has no suite with the id or name ${JSON.stringify(suite)}.`);
}

/** Selects cases of a suite; all unless `wanted` names some. @throws {ConfigurationError} if it names a missing case */
export function selectStored(stored: readonly WireCase[], wanted: readonly string[]): readonly WireCase[] {
  if (wanted.length === 0) return stored;
  const listOwn = ({ id, declaredId, title }: WireCase) =>
    [id, declaredId, title].filter((name) => typeof name === 'string');
  return wanted.flatMap((name) => {
    const exact = stored.filter((item) => listOwn(item).includes(name));
    if (exact.length > 1) throw refuseUnknown('cases', explainAmbiguity(name, exact.map(nameStored)));
    const found = stored.filter((item) => listOwn(item).some((own) => matchesName(own, name)));
    if (found.length === 0) throw refuseUnknown('cases', `The suite has no case called ${JSON.stringify(name)}.`);
    return found;
  });
}

function nameStored({ id, title }: WireCase): NamedCase {
  return { id, title: title ?? id, location: null };
}

/** Outlines a suite without an evals file; the service decides how often a case runs. */
function outlineStored(
  suiteId: string,
  name: string,
  { stored, cases }: { stored: readonly WireCase[]; cases: readonly WireCase[] },
): SuiteOutline {
  return {
    id: suiteId,
    name,
    file: null,
    cases: cases.map(outlineStoredCase),
    leftOut: stored.filter((each) => !cases.includes(each)).map(({ id }) => id),
  };
}

export function outlineStoredCase(stored: WireCase): CaseOutline {
  return {
    id: stored.id,
    title: stored.title ?? stored.id,
    tags: [],
    isRequired: false,
    location: null,
    definitionHash: hashStoredDefinition(stored),
    model: null,
    runs: null,
  };
}

/** Replaces the suite's own servers by those of the job, under the names that the steps use. */
function selectServers(
  cases: readonly WireCase[],
  [server, ...more]: readonly RegisteredServer[],
): Pick<NewRun, 'serverIds' | 'serverNames'> {
  if (server === undefined) return {};
  const names = new Set(cases.flatMap(({ steps }) => (steps ?? []).flatMap(listServerNames)));
  if (more.length > 0) {
    const known = [server, ...more];
    const unknown = [...names].find((called) => !known.some(({ alias }) => alias === called));
    if (unknown === undefined) {
      return { serverIds: known.map(({ id }) => id), serverNames: known.map(({ alias }) => alias) };
    }
    const tested = known.map(({ alias }) => JSON.stringify(alias)).join(' and ');
    throw refuseUnknown(
      'suite',
      `A step of the suite calls the server ${JSON.stringify(unknown)}, and the gate tests ${tested}; call it so in \`mcp-config\`, or choose \`cases\` that do not use it.`,
    );
  }
  const [name = serverUnderTest, ...others] = names;
  if (others.length > 0) {
    throw refuseUnknown(
      'suite',
      `The steps of the suite call ${names.size} servers, and the job has one to put in their place; choose \`cases\` that call one, or run it without a server of the job.`,
    );
  }
  return { serverIds: [server.id], serverNames: [name] };
}

function listServerNames(step: Record<string, unknown>): string[] {
  const { kind, serverName } = step;
  return kind === 'toolCall' && typeof serverName === 'string' ? [serverName] : [];
}
