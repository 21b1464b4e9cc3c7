import { finished } from 'node:stream';
import { race, systemClock } from '../base/time.ts';

/**
 * Waits until the readers of stdout and stderr have taken all output: at the exit, Node.js drops what does not fit into a pipe, which is 64 KiB
 * on Linux. With a limit, a reader that takes nothing is not waited for any longer.
 */
export async function flushOutput({ limitMs }: { limitMs: number | null }): Promise<void> {
  const flushed = Promise.all([flush(process.stdout), flush(process.stderr)]);
  if (limitMs === null) await flushed;
  else await race(flushed, { timeout: { clock: systemClock, afterMs: limitMs, onTimeout: () => undefined } });
}

async function flush(stream: NodeJS.WriteStream): Promise<void> {
  await new Promise<void>((resolve) => {
    // A session that is passed through ends this process's stdout as the server does, and nothing can be written then.
    if (!stream.writable) finished(stream, { readable: false }, () => resolve());
    else stream.write('', () => resolve());
  });
}

/** How long a gate waits for the reader of its log. */
export const logLimitMs = 10_000;
