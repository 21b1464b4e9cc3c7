import { ServerStartError } from '../base/errors.ts';
import { clipText } from '../base/text.ts';
import { legacyVersions, modernVersion } from '../mcp/protocol.ts';
import { describeProcessEnd } from '../model/process-end.ts';
import type { OutputTail } from './output-tail.ts';
import type { ProcessExit } from './process.ts';
import type { WantedProtocol } from './running-server.ts';

/** The most lines of stderr in an error: enough for a stack trace, but still readable. */
export const tailLines = 50;

/** Makes the error for a process that ended before the server answered, with the reason if it is known. */
export function createExitError(
  command: string,
  exit: ProcessExit,
  { tail, remark }: { tail: OutputTail; remark: string },
): ServerStartError {
  const stderrTail = tail.readLines(tailLines);
  if (exit.error !== undefined) {
    const isMissing = exit.error.code === 'ENOENT';
    return new ServerStartError(`The server command ${JSON.stringify(command)} could not be started.`, {
      hint: isMissing
        ? 'Check the spelling, that an earlier step installs it, and that the working directory exists. No shell reads the command, so wrap pipes, && or variables in sh -c "…".'
        : 'Check that the file may be executed.',
      cause: exit.error,
    });
  }
  return new ServerStartError(
    `The server under test ${describeProcessEnd({ exitCode: exit.code, signal: exit.signal })} before it was ready.${remark}`,
    {
      processExitCode: exit.code,
      stderrTail,
      hint:
        exit.code === 0
          ? 'A server keeps running until its stdin closes. Check that the command starts the server in the foreground and in the right mode.'
          : 'Run the command by hand with the same arguments. The server gets a small environment only; pass what it needs with server-env.',
    },
  );
}

/** Makes the error for a server that completes a handshake, but in none of the accepted revisions. */
export function createRevisionError(
  offered: readonly string[],
  { value, source }: WantedProtocol,
  tail: OutputTail,
): ServerStartError {
  const stderrTail = tail.readLines(tailLines);
  const offer = offered.map((version) => clipText(version, 100)).join(', ');
  if (value === 'auto') {
    return new ServerStartError(`The server under test offers MCP ${offer}, which the gate does not speak.`, {
      stderrTail,
      hint: `The gate speaks ${[...legacyVersions, modernVersion].toSorted().join(', ')}. Use a version of the server that speaks one of them.`,
    });
  }
  const asker = source === 'protocol' ? '`protocol`' : source;
  return new ServerStartError(
    `The server under test does not speak MCP ${value}, which ${asker} asks for. It offers ${offer}.`,
    {
      stderrTail,
      hint: `Set \`protocol\` to a revision that the server offers, or to \`auto\`.`,
    },
  );
}

/** Makes the error for a process that ended while it served the evals. */
export function createLostError(exit: ProcessExit, tail: OutputTail): ServerStartError {
  return new ServerStartError(
    `The server under test ${describeProcessEnd({ exitCode: exit.code, signal: exit.signal })} while it was in use.`,
    {
      processExitCode: exit.code,
      stderrTail: tail.readLines(tailLines),
      hint: 'Calls of several cases may have been open, so none of them has a result.',
    },
  );
}

/** Makes the error for servers that ended one after another before any answer. */
export function createUnstableError(exit: ProcessExit, tail: OutputTail): ServerStartError {
  const how = describeProcessEnd({ exitCode: exit.code, signal: exit.signal });
  return new ServerStartError(
    `Ten processes of the server under test in a row ended before their first answer; the last one ${how}.`,
    {
      processExitCode: exit.code,
      stderrTail: tail.readLines(tailLines),
      hint: 'Check whether the server can be started several times, one after another and side by side.',
    },
  );
}

/** Makes the error for a server that ended and could not be started again. */
export function createRestartError(cause: ServerStartError): ServerStartError {
  return new ServerStartError(`The server under test ended and could not be started again. ${cause.message}`, {
    processExitCode: cause.processExitCode,
    stderrTail: cause.stderrTail,
    hint: 'The iterations that were still to run have no result. Mend what made the server end first.',
  });
}
