import { randomUUID } from 'node:crypto';
import type { SandboxReport } from '../model/report.ts';
import { buildChildEnvironment, markerVariable } from './environment.ts';
import { logDescendants, stopMarkedProcesses } from './kill-orphans.ts';
import { createOutputTail, type OutputTail } from './output-tail.ts';
import type { ServerContext, ServerOptions, StartContext } from './running-server.ts';
import { openSandbox } from './sandbox/open.ts';
import { splitCommand } from './split-command.ts';
import { startWatchdog } from './watchdog.ts';

/** Left-overs of a stopped server get this long between SIGTERM and SIGKILL. */
const sweepGraceMs = 500;

/** Where the programs of a server are started, and what ends whatever they leave. */
export interface PreparedStart extends AsyncDisposable {
  /** Null where nothing is started. */
  readonly start: StartContext | null;
  /** Marks every process in its environment; null where nothing is started. */
  readonly sessionMarker: string | null;
  readonly tail: OutputTail;
  /** How the programs are isolated; null where nothing is started. */
  readonly sandboxReport: SandboxReport | null;
}

export type StartOptions = Pick<
  ServerOptions,
  'command' | 'cwd' | 'env' | 'readyTimeoutMs' | 'sandbox' | 'sessionMarker' | 'side'
>;

/**
 * Makes the sandbox, the environment and the watchdog of a command. Disposing of it ends every process that carries the marker.
 *
 * @throws {ConfigurationError} when the command cannot be split into words.
 * @throws {SandboxError} when this machine cannot isolate it as the options require.
 */
export async function prepareStart(
  { command, cwd, env, readyTimeoutMs, sandbox: wanted, sessionMarker: given, side = null }: StartOptions,
  context: ServerContext,
): Promise<PreparedStart> {
  const { environment, logger, clock } = context;
  const sessionMarker = command === null ? null : (given ?? randomUUID());
  const tail = createOutputTail();
  const words = command === null ? [] : splitCommand(command);
  const opened =
    command === null || wanted === undefined
      ? null
      : await (side?.openSandbox ?? openSandbox)(wanted, { cwd, environment, logger });
  // With a sandbox, nothing that the server starts can outlive it.
  const descendants = command === null || (opened?.sandbox ?? null) !== null ? null : logDescendants();
  const watchdog = sessionMarker === null ? null : startWatchdog(sessionMarker, environment);
  const start: StartContext | null =
    command === null || watchdog === null
      ? null
      : {
          ...context,
          command,
          words,
          watchdog,
          cwd,
          env: buildChildEnvironment(environment, {
            ...side?.variables,
            ...env,
            [markerVariable]: sessionMarker ?? '',
          }),
          tail,
          readyTimeoutMs,
          sandbox: opened?.sandbox ?? null,
          descendants,
        };
  return {
    start,
    sessionMarker,
    tail,
    sandboxReport: opened?.report ?? null,
    [Symbol.asyncDispose]: async () => {
      if (sessionMarker !== null) await stopMarkedProcesses(sessionMarker, { graceMs: sweepGraceMs, clock });
      await descendants?.end({ graceMs: sweepGraceMs, clock });
      await watchdog?.[Symbol.asyncDispose]();
      await opened?.[Symbol.asyncDispose]();
    },
  };
}
