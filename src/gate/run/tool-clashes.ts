import { caseOperations } from '../../service/operations/cases.ts';
import { callOperation } from '../../service/call-operation.ts';
import { ConfigurationError } from '../../base/errors.ts';
import { isRecord } from '../../base/json.ts';
import { type Clock, startTimeLimit } from '../../base/time.ts';
import { findToolClash } from '../../engine/tool-list.ts';
import { openSession } from '../../mcp/session.ts';
import { listAllSteps } from '../../cases/suite.ts';
import { readServerName } from '../../cases/step-server.ts';
import type { PlannedSuite } from '../plan/plan-suites.ts';
import type { SurfaceTarget } from '../plan/surface-part.ts';
import type { HostedProject } from './hosted-project.ts';
import { findStoredSuite, selectStored } from './prepare-stored-suite.ts';

/** The time limit for the list of one server. */
const listTimeoutMs = 30_000;

interface NamedCase {
  title: string;
  steps: readonly unknown[];
}

/**
 * Refuses a case that uses two servers which list a tool of the same name. A hosted service knows each server by its own record and has no
 * such check; its assertions and its models name a tool without its server. Skips a server that does not list its tools: the run reports it.
 *
 * @throws {ConfigurationError} naming the case, the servers and the tool
 * @throws the signal's reason once it aborts
 */
export async function refuseToolClashes(
  suites: readonly PlannedSuite[],
  targets: readonly SurfaceTarget[],
  { service, clock, signal }: { service: HostedProject; clock: Clock; signal: AbortSignal },
): Promise<void> {
  const servers = await Promise.all(
    targets.map(async (target) => ({
      name: target.configuration,
      tools: await listTools(target, { clock, signal }),
    })),
  );
  for (const planned of suites) {
    for (const { title, steps } of await listNamedCases(planned, service, signal)) {
      const used = servers.filter(({ name }) => steps.some((step) => mayUse(step, name)));
      const message = findToolClash(title, used);
      if (message !== null) throw new ConfigurationError([{ input: 'mcp-config', code: 'tool-name-clash', message }]);
    }
  }
}

async function listTools(
  { configuration, target }: SurfaceTarget,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): Promise<readonly string[]> {
  using limit = startTimeLimit(clock, { afterMs: listTimeoutMs, what: 'The list of tools', signal });
  try {
    const named = { ...target, serverName: configuration };
    await using session = await openSession(named, { clock, signal: limit.signal });
    return [...((await session.listTools({ signal: limit.signal }))?.keys() ?? [])];
  } catch {
    signal.throwIfAborted();
    return [];
  }
}

/** Lists the cases that a run of the suite has, from the file or from the service. */
async function listNamedCases(
  planned: PlannedSuite,
  service: HostedProject,
  signal: AbortSignal,
): Promise<NamedCase[]> {
  if (planned.kind === 'file') {
    return planned.suite.cases.map((testCase) => ({
      title: testCase.title,
      steps: listAllSteps(testCase).map(({ step }) => step),
    }));
  }
  const suiteId = await findStoredSuite(planned, { service, signal });
  const { client, projectId } = service;
  const place = { projectId, suiteId };
  const { items: stored } = await callOperation(client, caseOperations.listEvalCases, place, { signal });
  return selectStored(stored, planned.cases).map(({ id, title, steps }) => ({
    title: title ?? id,
    steps: steps ?? [],
  }));
}

/** Checks if a step may use a server. A model gets the tools of every server. */
function mayUse(step: unknown, serverName: string): boolean {
  if (!isRecord(step)) return false;
  const { kind, steps } = step;
  if (kind === 'prompt') return true;
  if (Array.isArray(steps)) return steps.some((inner) => mayUse(inner, serverName));
  return typeof step['serverName'] === 'string' && readServerName({ serverName: step['serverName'] }) === serverName;
}
