import { ConfigurationError, type ConfigurationIssue, ServerStartError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type { Redactor } from '../base/redaction.ts';
import type { Clock } from '../base/time.ts';
import { createFailedDiagnosis, type Diagnosis } from '../mcp/diagnosis.ts';
import { diagnoseServer } from '../mcp/doctor.ts';
import { anyProtocol } from '../model/protocol.ts';
import { serverUnderTest } from '../model/step-server.ts';
import { openAccess, openServer } from '../server/open.ts';
import type { GateOptions } from './options/schema.ts';
import { type PlannedServer, planServer, resolveEnvironment } from './plan/plan-server.ts';
import { sessionsOfAnyClient } from './run/scheduling.ts';

interface DoctorContext {
  clock: Clock;
  logger: Logger;
  /** Every secret is added to it before anything could print the secret. */
  redactor: Redactor;
  signal: AbortSignal;
  /** The job's environment, of which a started server gets an allow-listed part. */
  environment: Readonly<Record<string, string | undefined>>;
}

/** Settles how the server is started or reached. @throws {ConfigurationError} with everything that is wrong */
export async function planDoctor(
  options: GateOptions,
  { cwd, environment }: { cwd: string; environment: DoctorContext['environment'] },
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
export async function examineServer(server: PlannedServer, context: DoctorContext): Promise<Diagnosis> {
  const { clock, signal, redactor, logger } = context;
  for (const secret of server.secrets) redactor.add(secret);
  const { command, url, readyTimeoutMs: timeoutMs } = server;
  const access =
    url === null || server.access === null
      ? null
      : await openAccess({ url, ...server.access }, { clock, onSecret: (secret) => redactor.add(secret) });
  const limits = { clock, signal, timeoutMs };
  if (command === null && url !== null) {
    return await diagnoseServer({ url, serverName: serverUnderTest, protocol: 'auto', access }, limits);
  }
  const env = Object.fromEntries([...server.environment].map(([name, value]) => [name, value.reveal()]));
  const { isSse, cwd } = server;
  const options = {
    command,
    url,
    isSse,
    cwd,
    env,
    readyTimeoutMs: timeoutMs,
    access,
    protocol: anyProtocol,
    isolation: 'iteration' as const,
    sessions: { ...sessionsOfAnyClient, warmProcesses: 0 },
    isWitnessed: true,
  };
  const opening = openServer(options, { ...context, environment: { ...context.environment } });
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
  for (const secret of running.secrets) redactor.add(secret);
  const how = running.report.transport === 'stdio' ? 'on stdio' : 'at its URL';
  const started = { status: 'ok' as const, detail: `The command started a server that answers ${how}.` };
  const target = { url: running.url, serverName: serverUnderTest, protocol: running.protocol, access };
  return await diagnoseServer(target, { ...limits, started });
}
