import { ServerStartError } from '../base/errors.ts';
import { createFindings } from '../base/findings.ts';
import { createFailedDiagnosis, type Diagnosis } from '../mcp/diagnosis.ts';
import { diagnoseServer } from '../mcp/diagnose.ts';
import { serverUnderTest } from '../cases/step-server.ts';
import type { GateOptions } from './options/schema.ts';
import { planSandboxes } from './plan/plan-sandbox.ts';
import type { PlannedServer } from './plan/plan-server.ts';
import { planServers } from './plan/plan-servers.ts';
import { openPlannedAccess, type ReachContext, startPlannedServer } from './reach-server.ts';

/**
 * Plans how the server, or the servers of an `mcp-config`, are started or reached. `notes` lists what the file says and the gate does not
 * do.
 *
 * @throws {ConfigurationError} with everything that is wrong
 */
export async function planDoctor(
  options: GateOptions,
  { cwd, environment }: { cwd: string; environment: ReachContext['environment'] },
): Promise<{ servers: PlannedServer[]; notes: string[] }> {
  const findings = createFindings();
  const { servers } = await planServers(options, { cwd, environment }, findings);
  // The doctor judges nothing, so there are no evals to protect and no reports.
  const started = servers.filter(({ command }) => command !== null);
  const surroundings = { cwd, environment, servers: started, suites: [], base: null, reportDir: { path: cwd } };
  await planSandboxes(options, surroundings, findings);
  if (servers.length === 0) throw findings.toError();
  findings.throwIfAny();
  return { servers, notes: findings.notes };
}

/**
 * Starts the server if it has a command, and examines it within its ready timeout. Leaves nothing running.
 *
 * @throws {ConfigurationError} | {SandboxError} if the server cannot be started as the options say
 * @throws the signal's reason once it aborts
 */
export async function examineServer(server: PlannedServer, context: ReachContext): Promise<Diagnosis> {
  const { clock, signal, logger } = context;
  const { command, url, isSse, readyTimeoutMs: timeoutMs } = server;
  const access = await openPlannedAccess(server, context);
  const limits = { clock, signal, timeoutMs };
  if (command === null && url !== null) {
    const protocol = isSse ? 'sse' : 'auto';
    return await diagnoseServer({ url, serverName: serverUnderTest, protocol, access }, limits);
  }
  const opening = startPlannedServer(server, access, context);
  const opened = await opening.catch((error: unknown) => {
    if (!(error instanceof ServerStartError)) throw error;
    return error;
  });
  if (opened instanceof ServerStartError) {
    if (opened.stderrTail.length > 0) logger.group('Last lines of the server’s stderr', opened.stderrTail);
    const detail = opened.hint === undefined ? opened.message : `${opened.message} ${opened.hint}`;
    return createFailedDiagnosis({ status: 'error', detail });
  }
  await using running = opened;
  const { transport, sandbox } = running.report;
  const how = transport === 'stdio' ? 'on stdio' : 'at its URL';
  const where = sandbox === null || sandbox.level === 'none' ? '' : `, in a sandbox (${sandbox.level})`;
  const started = { status: 'ok' as const, detail: `The command started a server that answers ${how}${where}.` };
  const target = { url: await running.openUrl(), serverName: serverUnderTest, protocol: running.protocol, access };
  return await diagnoseServer(target, { ...limits, started });
}
