import { randomUUID } from 'node:crypto';
import type { SandboxReport } from '../model/report.ts';
import { buildChildEnvironment, markerVariable } from './environment.ts';
import { logDescendants, stopMarkedProcesses } from './kill-orphans.ts';
import { createOutputTail, type OutputTail } from './output-tail.ts';
import type { ServerContext, ServerOptions, StartContext } from './running-server.ts';
import { openSandbox } from './sandbox/open-sandbox.ts';
import { splitCommand } from './split-command.ts';
import { startWatchdog } from './watchdog.ts';

/** The time between SIGTERM and SIGKILL for the remaining processes of a stopped server. */
const sweepGraceMs = 500;

/** The environment in which a server's programs start, with the means to end all of them. */
export interface PreparedStart extends AsyncDisposable {
  /** Null if there is no command. */
  readonly start: StartContext | null;
  /** Marks every process in its environment; null if there is no command. */
  readonly sessionMarker: string | null;
  readonly tail: OutputTail;
  /** The isolation of the programs; null if there is no command. */
  readonly sandboxReport: SandboxReport | null;
}

export type StartOptions = Pick<
  ServerOptions,
  'command' | 'cwd' | 'env' | 'readyTimeoutMs' | 'sandbox' | 'sessionMarker' | 'side'
>;

/**
 * Makes the sandbox, the environment and the watchdog of a command. Disposing it ends every process with the marker.
 *
 * @throws {ConfigurationError} if the command cannot be split into words
 * @throws {SandboxError} if this machine cannot isolate it as the options require
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
  // In a sandbox, no process that the server starts can outlive it.
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
