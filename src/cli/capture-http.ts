import { ConfigurationError, describeError } from '../base/errors.ts';
import type { Redactor } from '../base/redaction.ts';
import { systemClock } from '../base/time.ts';
import { openHttpProxy } from '../capture/http-proxy.ts';
import { listenForInterrupts } from '../gate/host-process.ts';
import { anyProtocol } from '../model/protocol.ts';
import { openServer } from '../server/open-server.ts';
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
  const given = flags.url === undefined ? null : URL.parse(flags.url);
  if (flags.url !== undefined && !/^https?:$/.test(given?.protocol ?? ''))
    fail('url', `${JSON.stringify(flags.url)} is no URL of HTTP`);
  await using server =
    given === null
      ? await openServer(
          {
            command: joinCommand(words),
            url: null,
            cwd: process.cwd(),
            // As without this command, the server has all variables.
            env: Object.fromEntries(
              Object.entries({ ...process.env, ...readVariables(flags.serverEnv) }).flatMap(([name, value]) =>
                value === undefined ? [] : [[name, value]],
              ),
            ),
            readyTimeoutMs: 30_000,
            protocol: anyProtocol,
            isolation: 'iteration',
            sessions: { count: null, warmProcesses: 0, isExclusive: false },
            isWitnessed: false,
          },
          context,
        )
      : null;
  const address = given ?? new URL((await server?.openUrl()) ?? '');
  const recorder = startRecorder(null);
  const opening = openHttpProxy({
    port,
    target: (path) => (given === null ? address : new URL(path, address.origin)),
    onMessage: (from, text, session) => {
      // A line break in JSON is white space.
      const bytes = Buffer.from(`${text.replaceAll(/[\r\n]+/g, ' ')}\n`);
      recorder.send({ from, timeMs: Date.now(), session, bytes });
    },
  });
  await using proxy = await opening.catch((error: unknown) => {
    recorder.close();
    return fail('port', describeError(error));
  });
  logger.info(
    `Capturing at http://127.0.0.1:${proxy.port}${given?.pathname ?? '/mcp'} until a signal, such as Ctrl+C.`,
  );
  await new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  recorder.close();
  await recorder.done;
  return 0;
}
