import type { CommandEnd } from '../model/process-end.ts';
import { createOutputTail } from './output-tail.ts';
import { startProcess } from './process.ts';
import type { StartContext } from './running-server.ts';

/** The limits of the kept output: the first bytes of stdout, and the last lines of stderr. */
const maxStdoutBytes = 256 * 1024;
const maxStderrLines = 100;

/**
 * Runs a program in the same way as the server under test: in its directory, with its environment and inside its sandbox, without a
 * shell. It has no input. Processes that it leaves running end with it. Resolves once it has ended, or could not be started.
 *
 * @throws the signal's reason once it aborts, after the program and its processes have ended
 */
export async function runCommand(
  command: readonly string[],
  start: StartContext,
  { signal }: { signal: AbortSignal },
): Promise<CommandEnd> {
  signal.throwIfAborted();
  const tail = createOutputTail();
  const program = startProcess(command, { ...start, tail, readsStdin: false });
  program.stdin.end();
  const chunks: Buffer[] = [];
  let size = 0;
  program.stdout.on('data', (chunk: Buffer) => {
    if (size < maxStdoutBytes) chunks.push(chunk.subarray(0, maxStdoutBytes - size));
    size += chunk.length;
  });
  const stop = () => void program.kill();
  signal.addEventListener('abort', stop, { once: true });
  try {
    const { code, signal: endedBy, error } = await program.exited;
    return {
      exitCode: code,
      signal: endedBy,
      stdout: Buffer.concat(chunks).toString('utf8'),
      stderr: tail.readLines(maxStderrLines).join('\n'),
      startError: error === undefined ? null : error.message,
    };
  } finally {
    signal.removeEventListener('abort', stop);
    await program.kill();
    signal.throwIfAborted();
  }
}
