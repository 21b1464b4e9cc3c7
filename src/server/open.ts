import { randomUUID } from 'node:crypto';
import { ConfigurationError, ServerStartError } from '../base/errors.ts';
import { Secret } from '../base/redaction.ts';
import type { Clock } from '../base/time.ts';
import { createServerAccess, type ServerAccess } from '../mcp/access.ts';
import { openTokenRequest } from '../mcp/client-credentials.ts';
import { summarizeDiagnosis } from '../mcp/diagnosis.ts';
import { diagnoseServer } from '../mcp/doctor.ts';
import type { Target } from '../mcp/session.ts';
import { explainAccessRefusal } from './access-refusal.ts';
import { buildChildEnvironment, markerVariable } from './environment.ts';
import { logDescendants, stopMarkedProcesses } from './kill-orphans.ts';
import { openHttpServer } from './open-http.ts';
import { openStdioServer } from './open-stdio.ts';
import type { ProcessWitness } from '../model/process-end.ts';
import { createOutputTail } from './output-tail.ts';
import { runCommand } from './run-command.ts';
import type {
  AccessOptions,
  ReachedServer,
  RunningServer,
  ServerContext,
  ServerOptions,
  StartContext,
} from './running-server.ts';
import { openSandbox } from './sandbox/open.ts';
import { splitCommand } from './split-command.ts';
import { tailLines } from './start-error.ts';
import { startWatchdog } from './watchdog.ts';

/** How long the doctor may take where a gate has failed already. */
const doctorTimeoutMs = 5000;

/** Left-overs of a stopped server get this long between SIGTERM and SIGKILL. */
const sweepGraceMs = 500;

/**
 * Starts the server under test, or finds the one at the URL, and resolves once it has answered an MCP handshake.
 *
 * @throws {ServerStartError} when it exits, stays silent for `readyTimeoutMs` or speaks no MCP.
 * @throws {ConfigurationError} when the command or the URL cannot be read.
 * @throws {SandboxError} when this machine cannot isolate it as the options require.
 */
export async function openServer(options: ServerOptions, context: ServerContext): Promise<RunningServer> {
  context.signal.throwIfAborted();
  const { command, url } = options;
  if (url !== null) checkUrl(url);
  const sessionMarker = command === null ? null : (options.sessionMarker ?? randomUUID());
  const tail = createOutputTail();
  const words = command === null ? [] : splitCommand(command);
  const { cwd, sandbox: wanted } = options;
  const { environment, logger } = context;
  const opened =
    command === null || wanted === undefined ? null : await openSandbox(wanted, { cwd, environment, logger });
  // With a sandbox, nothing that the server starts can outlive it.
  const descendants = command === null || (opened?.sandbox ?? null) !== null ? null : logDescendants();
  const watchdog = sessionMarker === null ? null : startWatchdog(sessionMarker, context.environment);
  const start: StartContext | null =
    command === null || watchdog === null
      ? null
      : {
          ...context,
          command,
          words,
          watchdog,
          cwd: options.cwd,
          env: buildChildEnvironment(context.environment, { ...options.env, [markerVariable]: sessionMarker ?? '' }),
          tail,
          readyTimeoutMs: options.readyTimeoutMs,
          sandbox: opened?.sandbox ?? null,
          descendants,
        };
  const sweep = async () => {
    if (sessionMarker !== null)
      await stopMarkedProcesses(sessionMarker, { graceMs: sweepGraceMs, clock: context.clock });
    await descendants?.end({ graceMs: sweepGraceMs, clock: context.clock });
    await watchdog?.[Symbol.asyncDispose]();
    await opened?.[Symbol.asyncDispose]();
  };
  try {
    const reached = await reachServer(options, { context, start });
    return {
      ...reached,
      witness: reached.witness === null || start === null ? null : withCommands(reached.witness, start),
      report: { ...reached.report, sandbox: opened?.report ?? null },
      secrets: reached.token === null ? [] : [new Secret(reached.token)],
      sessionMarker,
      stderrTail: (maxLines = tailLines) => tail.readLines(maxLines),
      diagnose: async (signal) => {
        const { url, protocol } = reached;
        return await diagnose({ url, protocol, access: options.access }, { ...context, signal });
      },
      explainRefusal: async (refusal, signal) => {
        const create = (predicate: string, hint: string) =>
          new ServerStartError(`The server ${predicate}`, { stderrTail: [], hint });
        const said = { ...refusal, message: `it answered HTTP ${refusal.status}` };
        const { access = null } = options;
        const error = await explainAccessRefusal(reached.url, said, { access, clock: context.clock, signal, create });
        return error.hint === undefined ? error.message : `${error.message} ${error.hint}`;
      },
      [Symbol.asyncDispose]: async () => {
        await reached[Symbol.asyncDispose]();
        await sweep();
      },
    };
  } catch (error) {
    await sweep();
    if (command !== null || url === null || !(error instanceof ServerStartError) || !error.isUnexplained) throw error;
    const { message, hint, stderrTail } = error;
    const findings = await diagnose({ url, protocol: 'auto', access: options.access }, context);
    throw new ServerStartError(message, { stderrTail, hint, findings, cause: error.cause });
  }
}

/** Null where the signal aborts first. */
async function diagnose(
  target: Pick<Target, 'url' | 'protocol' | 'access'>,
  { clock, signal }: Pick<ServerContext, 'clock' | 'signal'>,
): Promise<string | null> {
  const limits = { clock, signal, timeoutMs: doctorTimeoutMs };
  return await diagnoseServer({ ...target, serverName: '' }, limits).then(summarizeDiagnosis, () => null);
}

function withCommands(witness: ProcessWitness, start: StartContext): ProcessWitness {
  return { ...witness, runCommand: (command, options) => runCommand(command, start, options) };
}

/**
 * Prepares what lets requests to the server at `url` in: fixed headers, and tokens of an OAuth client. `onSecret` hears every
 * token.
 */
export async function openAccess(
  { url, headers, oauth, proxy }: { url: string } & AccessOptions,
  { clock, onSecret }: { clock: Clock; onSecret: (secret: Secret) => void },
): Promise<ServerAccess> {
  const requestToken =
    oauth === null ? null : await openTokenRequest(oauth, { serverUrl: url, proxy, clock, onSecret });
  return createServerAccess({ url, headers, requestToken, clock });
}

function reachServer(
  options: ServerOptions,
  { context, start }: { context: ServerContext; start: StartContext | null },
): Promise<ReachedServer> {
  if (options.url !== null) {
    return openHttpServer(options.url, { ...context, ...options, start });
  }
  if (start !== null) return openStdioServer(start, options);
  const message = 'neither a server command nor a server URL is given; there is nothing to test';
  throw new ConfigurationError([{ code: 'missing-server', input: 'server-command', message }]);
}

function checkUrl(url: string): void {
  // The value is never repeated: it may hold a password, and anywhere in it where it cannot be parsed.
  const fail = (message: string): never => {
    throw new ConfigurationError([{ code: 'invalid-url', input: 'server-url', message }]);
  };
  if (!URL.canParse(url) || !['http:', 'https:'].includes(new URL(url).protocol)) {
    fail('the value is not an http: or https: URL, such as http://127.0.0.1:3000/mcp');
  }
  const { username, password } = new URL(url);
  if (username !== '' || password !== '')
    fail('the URL holds a user name or password, which HTTP clients refuse to send');
}
