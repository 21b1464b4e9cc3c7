import type { Server } from 'node:net';
import { ConfigurationError, ServerStartError } from '../base/errors.ts';
import { Secret } from '../base/redaction.ts';
import { clipText } from '../base/text.ts';
import type { Clock } from '../base/time.ts';
import type { Place } from '../workspace/place.ts';
import { createServerAccess, type ServerAccess } from '../mcp/access.ts';
import { openTokenRequest } from '../mcp/client-credentials.ts';
import { summarizeDiagnosis } from '../mcp/diagnosis.ts';
import { diagnoseServer } from '../mcp/diagnose.ts';
import type { HttpTarget } from '../mcp/session.ts';
import { explainAccessRefusal } from './access-refusal.ts';
import { openHttpServer } from './open-http.ts';
import { openInProcessServer } from './open-in-process.ts';
import { openStdioServer } from './open-stdio.ts';
import type { ProcessWitness, RunCommand } from '../model/process-end.ts';
import { prepareStart, type StartOptions } from './prepare-start.ts';
import { listenOnLoopback } from './proxy-listener.ts';
import { runCommand } from './run-command.ts';
import type {
  AccessOptions,
  ReachedServer,
  RunningServer,
  ServerContext,
  ServerInstances,
  ServerOptions,
  ServerProxy,
  StartContext,
} from './running-server.ts';
import { resolveWords, startInPlace } from './start-in-place.ts';
import { tailLines } from './start-error.ts';

/** The time limit of the doctor after a gate has already failed. */
const doctorTimeoutMs = 5000;

/**
 * Starts the server under test, or finds the one at the URL, and resolves once it has answered an MCP handshake.
 *
 * @throws {ServerStartError} if it exits, stays silent for `readyTimeoutMs` or does not speak MCP
 * @throws {ConfigurationError} if the command or the URL is invalid
 * @throws {SandboxError} if this machine cannot isolate it as the options require
 */
export async function openServer(options: ServerOptions, context: ServerContext): Promise<RunningServer> {
  context.signal.throwIfAborted();
  const { command, url } = options;
  if (url !== null) checkUrl(url);
  const prepared = await prepareStart(options, context);
  const { sessionMarker, tail, sandboxReport } = prepared;
  const workspaces = prepared.start === null ? null : (options.workspaces ?? null);
  const hide = <Value>(value: Value): Value => workspaces?.places.hide(value) ?? value;
  const openInitial = options.upstream?.openInitial ?? null;
  let place: Place | null = null;
  let proxy: ServerProxy | null = null;
  try {
    if (workspaces !== null) prepared.start?.watchdog.addDirectory(workspaces.places.root);
    if (workspaces !== null && workspaces.initial !== null) place = await workspaces.places.open(workspaces.initial);
    if (prepared.start !== null && openInitial !== null) proxy = await openInitial(await listenFor(prepared.start));
    const start = prepared.start === null ? null : adapt(prepared.start, { place, proxy });
    const reached = await reachServer(options, { context, start });
    return {
      findNoise: () => null,
      findForeignOwner: () => null,
      ...reached,
      witness: reached.witness === null || start === null ? null : withCommands(reached.witness, start),
      report: { ...reached.report, sandbox: sandboxReport },
      secrets: reached.token === null ? [] : [new Secret(reached.token)],
      sessionMarker,
      stderrTail: (maxLines = tailLines) => hide(tail.readLines(maxLines)),
      instances:
        workspaces === null && options.upstream == null
          ? null
          : openInstances(reached, { start: prepared.start, places: workspaces?.places ?? null }),
      diagnose: async (signal) => {
        // The doctor asks a URL, and an object of this process has none.
        if (options.inProcess != null) return null;
        const { protocol } = reached;
        return await diagnose(
          { url: await reached.openUrl(), protocol, access: options.access },
          { ...context, signal },
        );
      },
      explainRefusal: async (refusal, signal) => {
        const create = (predicate: string, hint: string) =>
          new ServerStartError(`The server ${predicate}`, { stderrTail: [], hint });
        const said = { ...refusal, message: `it answered HTTP ${refusal.status}` };
        const { access = null } = options;
        const reachedUrl = await reached.openUrl();
        const error = await explainAccessRefusal(reachedUrl, said, { access, clock: context.clock, signal, create });
        return error.hint === undefined ? error.message : `${error.message} ${error.hint}`;
      },
      [Symbol.asyncDispose]: async () => {
        await reached[Symbol.asyncDispose]();
        await proxy?.[Symbol.asyncDispose]();
        await prepared[Symbol.asyncDispose]();
        await place?.[Symbol.asyncDispose]();
      },
    };
  } catch (error) {
    await proxy?.[Symbol.asyncDispose]();
    await prepared[Symbol.asyncDispose]();
    await place?.[Symbol.asyncDispose]();
    if (workspaces !== null && error instanceof ServerStartError) throw hideInError(error, hide);
    if (command !== null || url === null || !(error instanceof ServerStartError) || !error.isUnexplained) throw error;
    const { message, hint, stderrTail } = error;
    const findings = await diagnose({ url, protocol: 'auto', access: options.access }, context);
    throw new ServerStartError(message, { stderrTail, hint, findings, cause: error.cause });
  }
}

function openInstances(
  { openInstance }: ReachedServer,
  { start, places }: { start: StartContext | null; places: ServerInstances['places'] },
): ServerInstances | null {
  if (start === null || openInstance === undefined) return null;
  return {
    places,
    open: async ({ place, openProxy }) => {
      const proxy = openProxy === null ? null : await openProxy(await listenFor(start));
      const own = adapt(start, { place, proxy });
      const instance = openInstance(own);
      const runIn: RunCommand = (command, options) =>
        runCommand(place === null ? command : resolveWords(command, start.cwd), own, options);
      return {
        ...instance,
        witness: { ...instance.witness, runCommand: runIn },
        [Symbol.asyncDispose]: async () => {
          await instance[Symbol.asyncDispose]();
          await proxy?.[Symbol.asyncDispose]();
        },
      };
    },
  };
}

/** Opens a socket that the processes of a start can reach. */
export async function listenFor({ sandbox }: Pick<StartContext, 'sandbox'>): Promise<Server> {
  return await (sandbox?.listen ?? listenOnLoopback)();
}

function adapt(
  start: StartContext,
  { place, proxy }: { place: Place | null; proxy: ServerProxy | null },
): StartContext {
  const inPlace = place === null ? start : startInPlace(start, place.paths);
  return proxy === null ? inPlace : { ...inPlace, env: { ...inPlace.env, ...proxy.variables } };
}

function hideInError(
  { message, stderrTail, hint, findings, cause }: ServerStartError,
  hide: <Value>(value: Value) => Value,
): ServerStartError {
  return new ServerStartError(hide(message), { stderrTail: hide(stderrTail), hint: hide(hint), findings, cause });
}

/** The number of last output lines that are shown of a failed command. */
const shownLines = 20;
const maxCommandLength = 120;

/**
 * Runs commands one after another in the same way as a server: with its environment, in its sandbox and without a shell.
 *
 * @throws {ServerStartError} with the last lines of the first command that does not end with code 0; the later ones do not run
 * @throws the signal's reason once it aborts, after everything that was started has ended
 */
export async function runSetup(
  commands: readonly string[],
  options: Omit<StartOptions, 'command' | 'readyTimeoutMs'>,
  context: ServerContext,
): Promise<void> {
  for (const command of commands) {
    context.signal.throwIfAborted();
    await using prepared = await prepareStart({ ...options, command, readyTimeoutMs: 0 }, context);
    const { start, tail } = prepared;
    if (start === null) continue;
    const end = await runCommand(start.words, { ...start, tail }, { signal: context.signal });
    if (end.exitCode === 0) continue;
    const how = end.startError ?? (end.signal === null ? `exit code ${end.exitCode}` : end.signal);
    const output = [...end.stdout.split('\n'), ...end.stderr.split('\n')].filter((line) => line.trim() !== '');
    throw new ServerStartError(`\`${clipText(command, maxCommandLength)}\` failed: ${how}.`, {
      stderrTail: output.slice(-shownLines),
    });
  }
}

/** Null if the signal aborts first. */
async function diagnose(
  target: Pick<HttpTarget, 'url' | 'protocol' | 'access'>,
  { clock, signal }: Pick<ServerContext, 'clock' | 'signal'>,
): Promise<string | null> {
  const limits = { clock, signal, timeoutMs: doctorTimeoutMs };
  return await diagnoseServer({ ...target, serverName: '' }, limits).then(summarizeDiagnosis, () => null);
}

function withCommands(witness: ProcessWitness, start: StartContext): ProcessWitness {
  return { ...witness, runCommand: (command, options) => runCommand(command, start, options) };
}

/** Prepares the access to the server at `url`: fixed headers, and tokens of an OAuth client. `onSecret` gets every token. */
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
  if (options.inProcess != null) return openInProcessServer(options.inProcess, { ...context, ...options });
  const message = 'neither a server command nor a server URL is given; there is nothing to test';
  throw new ConfigurationError([{ code: 'missing-server', input: 'server-command', message }]);
}

function checkUrl(url: string): void {
  // Never repeats the value: it may hold a password, and if it cannot be parsed, the password may be in any part of it.
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
