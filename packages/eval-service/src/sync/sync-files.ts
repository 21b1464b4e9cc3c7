import { resolve } from 'node:path';
import { ConfigurationError, type ConfigurationIssue, ProtocolError } from '../../../../src/base/errors.ts';
import { readTextFile } from '../../../../src/base/files.ts';
import { appendAll } from '../../../../src/base/lists.ts';
import { mapServerSteps } from '../../../../src/cases/step.ts';
import { readServerName } from '../../../../src/cases/step-server.ts';
import type { Suite } from '../../../../src/cases/suite.ts';
import { callOperation } from '../../../../src/service/call-operation.ts';
import type { ServiceClient } from '../../../../src/service/client.ts';
import { findNamed, formatNamed, suggestNamed } from '../../../../src/service/named.ts';
import { operations } from '../../../../src/service/operations/table.ts';
import type { ServiceProfile } from '../../../../src/service/profile.ts';
import { findOldestSuite, findSuite } from '../../../../src/service/suite-client.ts';
import type { WireServer } from '../../../../src/service/wire.ts';
import { loadSuites } from '../../../../src/suite/load.ts';
import { parseSource } from '../../../../src/suite/source-document.ts';
import { applySuiteSync } from './apply.ts';
import { findLosses } from './find-losses.ts';
import { isInStep, planSuiteSync, type SuiteSyncPlan } from './plan-sync.ts';
import { pullSuite } from './pull.ts';
import { readStoredSuite, type StoredSuite } from './stored-suite.ts';

/** A project of a service, with the client that reaches it. */
export interface SyncPlace {
  client: ServiceClient;
  projectId: string;
  signal?: AbortSignal;
}

/**
 * Reads the evals files that match the patterns below `cwd`, and refuses all content that the service could not return.
 *
 * @throws {ConfigurationError} with every finding and its line
 */
export async function readSyncFiles(
  patterns: readonly string[],
  { cwd, profile }: { cwd: string; profile: ServiceProfile },
): Promise<Suite[]> {
  const { suites, findings } = await loadSuites([...patterns], { cwd });
  const issues: ConfigurationIssue[] = [...findings];
  const files = new Map<string, string>();
  for (const suite of suites) {
    const { file } = suite.location;
    const { document } = parseSource(await readTextFile(resolve(cwd, file)), file);
    if (document !== null) appendAll(issues, findLosses(suite, document, profile));
    const other = files.get(suite.name);
    files.set(suite.name, file);
    if (other === undefined) continue;
    const message = `the suite ${JSON.stringify(suite.name)} is also in ${other}; give one of them another name`;
    issues.push({ ...suite.location, code: 'same-suite', message });
  }
  if (issues.length > 0) throw new ConfigurationError(issues);
  return suites;
}

/**
 * Compares the suites of files with those of the project. Writes nothing.
 *
 * @throws {ConfigurationError} if a called server is not in the project, or if people must first resolve a conflict
 */
export async function planSync(
  suites: readonly Suite[],
  { server, prune }: { server: string | null; prune: boolean },
  place: SyncPlace,
): Promise<SuiteSyncPlan[]> {
  const { client, ...at } = place;
  const { dialect } = client.profile;
  const known = await listServers(place);
  const main = chooseServer(known, server);
  const plans: SuiteSyncPlan[] = [];
  const issues: ConfigurationIssue[] = [];
  for (const suite of suites) {
    const others = listServerNames(suite, known, issues);
    const found = await findOldestSuite(client, { ...at, name: suite.name });
    const stored =
      found === undefined ? null : await readStoredSuite(client, { ...at, suiteId: found.id, servers: known });
    const servers = [main, ...others.filter(({ id }) => id !== main.id)] as const;
    const plan = planSuiteSync(suite, stored, { servers: [...servers], dialect, prune });
    for (const message of plan.conflicts) issues.push({ ...suite.location, code: 'conflict', message });
    plans.push(plan);
  }
  if (issues.length > 0) throw new ConfigurationError(issues);
  return plans;
}

/**
 * Carries out plans of `planSync`, and then reads each suite again.
 *
 * @throws {ProtocolError} if the service did not store exactly what was sent
 */
export async function applySync(plans: readonly SuiteSyncPlan[], place: SyncPlace): Promise<void> {
  const { client, ...at } = place;
  for (const plan of plans) {
    if (isInStep(plan) && plan.settings.length === 0) continue;
    const suiteId = await applySuiteSync(client, plan, at);
    const stored = await readStoredSuite(client, { ...at, suiteId, servers: await listServers(place) });
    const { dialect } = client.profile;
    const after = planSuiteSync(plan.suite, stored, { servers: plan.servers, dialect, prune: false });
    if (isInStep(after)) continue;
    const names = [
      ...after.settings.map(({ name }) => name),
      ...after.create.map(({ title }) => title),
      ...[...after.update, ...after.replace, ...after.delete].map(({ title }) => title),
    ];
    throw new ProtocolError(`The service keeps something else than it was sent: ${names.join(', ')}.`);
  }
}

/** Reads a suite of the project, by its id or name, as the text of an evals file. */
export async function pullFile(suite: string, place: SyncPlace): Promise<string> {
  const { client, ...at } = place;
  const found = await findSuite(client, { ...at, suite });
  if (found === undefined) {
    const message = `No suite of the project has the id or the name ${JSON.stringify(suite)}; \`mcp-eval-ci api listEvalSuites\` lists them`;
    throw new ConfigurationError([{ input: 'suite', code: 'unknown-suite', message }]);
  }
  const servers = await listServers(place);
  const stored: StoredSuite = await readStoredSuite(client, { ...at, suiteId: found.id, servers });
  return pullSuite(stored, client.profile.dialect);
}

async function listServers({ client, projectId, ...options }: SyncPlace): Promise<WireServer[]> {
  return (await callOperation(client, operations.servers.listProjectServers, { projectId }, options)).items;
}

/** The server under test: the named one, or the only one of the project. */
function chooseServer(servers: readonly WireServer[], name: string | null): WireServer {
  const matches = name === null ? servers : findNamed(servers, name);
  const [match, ...others] = matches;
  if (match !== undefined && others.length === 0) return match;
  const fail = (code: string, message: string) => new ConfigurationError([{ input: 'server', code, message }]);
  if (servers.length === 0)
    throw fail('no-server', 'The project has no server; save the one that the evals are about first.');
  if (name === null)
    throw fail('several-servers', `The project has several servers; choose from ${formatNamed(servers)}.`);
  throw fail(
    'unknown-server',
    `No server has the id or the name ${JSON.stringify(name)}${suggestNamed(servers, name)}`,
  );
}

/** Lists the servers that calls of a suite name. Servers that the project lacks are reported in `issues`. */
function listServerNames(suite: Suite, known: readonly WireServer[], issues: ConfigurationIssue[]): WireServer[] {
  const found = new Map<string, WireServer>();
  for (const { step, location } of suite.cases.flatMap(({ steps }) => steps)) {
    mapServerSteps(step, (call) => {
      const serverName = readServerName(call);
      if (serverName === null) return call;
      const server = known.find(({ name }) => name === serverName);
      if (server !== undefined) found.set(server.id, server);
      else {
        const message = `the project has no server called ${JSON.stringify(serverName)}${suggestNamed(known, serverName)}`;
        issues.push({ ...location, code: 'unknown-server', message });
      }
      return call;
    });
  }
  return [...found.values()];
}
