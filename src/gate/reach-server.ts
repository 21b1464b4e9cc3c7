import { Disposer } from '../base/disposal.ts';
import { createFindings } from '../base/findings.ts';
import type { Logger } from '../base/logger.ts';
import type { Redactor } from '../base/redaction.ts';
import { type Clock, race } from '../base/time.ts';
import type { ServerAccess } from '../mcp/access.ts';
import { openSession, type Session, type Target } from '../mcp/session.ts';
import { anyProtocol, type ProtocolChoice } from '../model/protocol.ts';
import type { Sourced } from '../model/source.ts';
import { serverUnderTest } from '../cases/step-server.ts';
import { openAccess, openServer } from '../server/open-server.ts';
import type { ServerFactory } from '../server/in-process-server.ts';
import type { RunningServer } from '../server/running-server.ts';
import type { GateOptions } from './options/schema.ts';
import type { PlannedServer } from './plan/plan-server.ts';
import { planServers } from './plan/plan-servers.ts';
import { sessionsOfAnyClient } from './run/scheduling.ts';

/** The surroundings of a command that uses one server and runs no evals. */
export interface ReachContext {
  clock: Clock;
  logger: Logger;
  /** Gets every secret before anything could print it. */
  redactor: Redactor;
  signal: AbortSignal;
  /** The job's environment. A started server gets only an allow-listed part of it. */
  environment: Readonly<Record<string, string | undefined>>;
  /** The revision of MCP that the server has to speak; the default is any. */
  protocol?: Sourced<ProtocolChoice>;
}

/**
 * Plans how one server is started or reached, described by options or in an `mcp-config`.
 *
 * @throws {ConfigurationError} with everything that is wrong, and if a file names several servers and the options choose none
 */
export async function planOneServer(
  options: GateOptions,
  context: { cwd: string; environment: ReachContext['environment']; inProcess?: ServerFactory },
): Promise<PlannedServer> {
  const findings = createFindings();
  const { servers } = await planServers(options, context, findings);
  if (servers.length > 1) {
    const names = servers.map(({ name }) => name).join(', ');
    const message = `choose one server of the file with \`${options.mcpConfig?.path}#<name>\`: ${names}`;
    findings.add({ input: 'mcp-config', code: 'several-servers', message });
  }
  const [server] = servers;
  if (server === undefined) throw findings.toError();
  findings.throwIfAny();
  return server;
}

/** Prepares the credentials for requests to the server; null if it needs none. Redacts the server's secrets from then on. */
export async function openPlannedAccess(
  { url, access, secrets }: PlannedServer,
  { clock, redactor }: Pick<ReachContext, 'clock' | 'redactor'>,
): Promise<ServerAccess | null> {
  for (const secret of secrets) redactor.add(secret);
  if (url === null || access === null) return null;
  return await openAccess({ url, ...access }, { clock, onSecret: (secret) => redactor.add(secret) });
}

/**
 * Starts the server, in a sandbox if the plan has one, or finds the one at its URL, for any number of sessions.
 *
 * @throws {ServerStartError} | {ConfigurationError} | {SandboxError} if it cannot be started as the options say
 */
export async function startPlannedServer(
  { command, url, inProcess, isSse, cwd, environment: variables, readyTimeoutMs, sandbox }: PlannedServer,
  access: ServerAccess | null,
  { clock, logger, redactor, signal, environment, protocol = anyProtocol }: ReachContext,
): Promise<RunningServer> {
  const env = Object.fromEntries([...variables].map(([name, value]) => [name, value.reveal()]));
  const options = {
    command,
    url,
    inProcess: inProcess ?? null,
    isSse,
    cwd,
    env,
    readyTimeoutMs,
    access,
    protocol,
    isolation: 'iteration' as const,
    sessions: { ...sessionsOfAnyClient, warmProcesses: 0 },
    isWitnessed: true,
    ...(sandbox === null ? {} : { sandbox }),
  };
  const running = await openServer(options, { clock, logger, signal, environment: { ...environment } });
  for (const secret of running.secrets) redactor.add(secret);
  return running;
}

/** One session with the server. Its disposal stops everything that was started for it. */
export interface ReachedSession extends AsyncDisposable {
  session: Session;
  target: Target;
}

/**
 * Starts or finds the server and opens one session with it, within its ready timeout.
 *
 * @throws as `startPlannedServer`, and the error of the handshake
 */
export async function openServerSession(server: PlannedServer, context: ReachContext): Promise<ReachedSession> {
  const { clock, signal } = context;
  const access = await openPlannedAccess(server, context);
  await using resources = new Disposer();
  const running = resources.use(await startPlannedServer(server, access, context));
  const target = { ...running.endpoint, serverName: serverUnderTest, protocol: running.protocol, access };
  const opening = openSession(target, { clock, signal });
  const session = resources.use(await race(opening, { signals: [signal] }));
  const kept = resources.move();
  return { session, target, [Symbol.asyncDispose]: () => kept[Symbol.asyncDispose]() };
}
