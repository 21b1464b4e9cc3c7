import { ConfigurationError, type ConfigurationIssue, ServerStartError } from '../base/errors.ts';
import { createFailedDiagnosis, type Diagnosis } from '../mcp/diagnosis.ts';
import { diagnoseServer } from '../mcp/doctor.ts';
import { serverUnderTest } from '../model/step-server.ts';
import type { GateOptions } from './options/schema.ts';
import { type PlannedServer, planServer, resolveEnvironment } from './plan/plan-server.ts';
import { openPlannedAccess, type ReachContext, startPlannedServer } from './reach-server.ts';

/** Settles how the server is started or reached. @throws {ConfigurationError} with everything that is wrong */
export async function planDoctor(
  options: GateOptions,
  { cwd, environment }: { cwd: string; environment: ReachContext['environment'] },
): Promise<PlannedServer> {
  const issues: ConfigurationIssue[] = [];
  const variables = resolveEnvironment(options.serverEnv, environment, issues);
  const server = await planServer(options, { cwd, environment, variables }, issues);
  if (server === null || issues.length > 0) throw new ConfigurationError(issues);
  return server;
}

/**
 * Starts the server where it has a command, and examines it within its ready timeout. Leaves nothing running.
 *
 * @throws {ConfigurationError} | {SandboxError} when the server cannot be started as the options say
 * @throws the signal's reason once it aborts
 */
export async function examineServer(server: PlannedServer, context: ReachContext): Promise<Diagnosis> {
  const { clock, signal, logger } = context;
  const { command, url, readyTimeoutMs: timeoutMs } = server;
  const access = await openPlannedAccess(server, context);
  const limits = { clock, signal, timeoutMs };
  if (command === null && url !== null) {
    return await diagnoseServer({ url, serverName: serverUnderTest, protocol: 'auto', access }, limits);
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
  const how = running.report.transport === 'stdio' ? 'on stdio' : 'at its URL';
  const started = { status: 'ok' as const, detail: `The command started a server that answers ${how}.` };
  const target = { url: running.url, serverName: serverUnderTest, protocol: running.protocol, access };
  return await diagnoseServer(target, { ...limits, started });
}
