import { ConfigurationError } from '../base/errors.ts';
import type { Redactor } from '../base/redaction.ts';
import { systemClock } from '../base/time.ts';
import { openHttpCapture } from '../capture/http-capture.ts';
import { listenForInterrupts } from '../gate/host-process.ts';
import { joinCommand } from '../server/split-command.ts';
import { type CaptureFlags, readVariables } from './capture-flags.ts';
import { createStderrLogger } from './command-logger.ts';
import { startRecorder } from './start-recorder.ts';

function fail(input: string, message: string): never {
  throw new ConfigurationError([{ input, code: 'invalid-value', message }]);
}

/** Serves a command on stdio, or a server at a URL, over HTTP until a signal, and records it. Returns the exit code. */
export async function captureHttp(words: readonly string[], flags: CaptureFlags, redactor: Redactor): Promise<number> {
  const port = Number(flags.port ?? 0);
  if (!/^\d*$/.test(flags.port ?? '') || port > 65_535)
    fail('port', `${JSON.stringify(flags.port)} is no port; write one such as 3000`);
  if (flags.workspace !== undefined) fail('workspace', 'has no effect on a server over HTTP; remove it');
  if (flags.url !== undefined && words.length > 0)
    fail('url', 'is the server, and so is the command; remove one of them');
  if (flags.url === undefined && words.length === 0)
    fail('port', 'needs a server: write its command after `--`, or its address as `--url`');
  const signal = listenForInterrupts(process, (code) => process.exit(code));
  const logger = createStderrLogger(redactor);
  const context = { clock: systemClock, logger, signal, environment: process.env };
  let recorder: ReturnType<typeof startRecorder> | null = null;
  await using capture = await openHttpCapture(
    {
      server: flags.url === undefined ? { command: joinCommand(words) } : { url: flags.url },
      cwd: process.cwd(),
      // As without this command, the server has all variables.
      env: { ...process.env, ...readVariables(flags.serverEnv) },
      port,
      onFrame: (frame) => recorder?.send(frame),
    },
    context,
  );
  recorder = startRecorder(null);
  logger.info(`Capturing at ${capture.url} until a signal, such as Ctrl+C.`);
  await new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  recorder.close();
  await recorder.done;
  return 0;
}
