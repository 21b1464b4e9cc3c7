import { CancelledError, ConfigurationError } from '../base/errors.ts';
import { appendAll } from '../base/lists.ts';
import { redactDeep } from '../base/redaction.ts';
import { settle } from '../base/settle.ts';
import { formatDuration } from '../base/time.ts';
import { addEnvironmentSecrets, readMachine } from '../capture/clean.ts';
import { convertSession } from '../capture/convert.ts';
import { openHttpCapture } from '../capture/http-capture.ts';
import { createLineReader, type JournalEntry } from '../capture/journal.ts';
import { parseSplit } from '../capture/split.ts';
import { splitCommand } from '../server/split-command.ts';
import type { GivenOptions } from './option-texts.ts';
import { cancelWith, checkText, checkWhole, readServerOptions, type Surroundings } from './server-options.ts';
import { requireOptions } from './option-texts.ts';

/** The options of `capture`. */
export interface CaptureOptions
  extends Surroundings, Pick<GivenOptions, 'serverCommand' | 'serverUrl' | 'serverEnv' | 'serverCwd'> {
  /** The port of 127.0.0.1. Default: a free one. */
  port?: number | undefined;
  /** What ends a case: a pause in milliseconds or as a text such as `60s`, which is the default, each call (`each`), or `never`. */
  split?: number | string | undefined;
  /** The evals file that the text is for: paths in it are relative to its directory. Default: one in `cwd`. */
  file?: string | undefined;
}

/** A session that is captured. Disposing it ends it without evals. */
export interface CaptureSession extends AsyncDisposable {
  /** The URL at which clients reach the server. */
  readonly url: string;
  /**
   * Ends the session, replays its calls where that is safe, and writes evals of them.
   *
   * @throws {CancelledError} if the signal has aborted
   */
  end(): Promise<CapturedEvals>;
}

/** The evals of a session. */
export interface CapturedEvals {
  /** The text of an evals file; null if nothing was called. */
  text: string | null;
  cases: number;
  /** The cases that are commented out, with the reason. */
  commentedOut: number;
  /** Requests that are in no case, with the reason. */
  left: ReadonlyArray<{ subject: string; reason: string }>;
}

const own = ['port', 'split', 'file'] as const;

/** As `capture` in functions.ts says. */
export async function captureOf(given: CaptureOptions): Promise<CaptureSession> {
  requireOptions(given);
  const { port = 0, split = '60s', file = 'captured.evals.yaml' } = given;
  const { options, cwd, context } = readServerOptions(
    { ...given },
    {
      own,
      issues: [...checkWhole('port', given.port, 0), ...checkText('file', given.file, 'the path of an evals file')],
    },
  );
  const { serverCommand: command, serverUrl: url } = options;
  if ((command === null) === (url === null)) {
    const message = 'names no server, or two; give either `serverCommand` or `serverUrl`';
    throw new ConfigurationError([{ input: 'serverCommand', code: 'missing-server', message }]);
  }
  const rule = parseSplit(typeof split === 'number' ? formatDuration(split) : split);
  const { redactor, signal, environment } = context;
  const variables = Object.fromEntries(
    [...options.serverEnv].flatMap(([name, value]) => {
      const text = value ?? environment[name];
      return text === undefined ? [] : [[name, text]];
    }),
  );
  addEnvironmentSecrets({ ...environment, ...variables }, redactor);
  const read = createLineReader();
  const entries: JournalEntry[] = [];
  const opening = openHttpCapture(
    {
      server: command === null ? { url: url ?? '' } : { command },
      cwd: options.serverCwd ?? cwd,
      env: { ...environment, ...variables },
      port,
      onFrame: (frame) => appendAll(entries, redactDeep(read(frame), redactor)),
    },
    { ...context, environment: { ...environment } },
  );
  const proxy = await cancelWith(signal, async () => await opening);
  let closing: PromiseLike<void> | null = null;
  const close = async () => {
    signal.removeEventListener('abort', onAbort);
    await (closing ??= proxy[Symbol.asyncDispose]());
  };
  const onAbort = () => void close();
  signal.addEventListener('abort', onAbort);
  const head = {
    journal: 'mcp-eval-ci capture',
    version: 1,
    command: command === null ? [] : splitCommand(command),
    url: url === null ? null : url.replace(/[?#].*/, ''),
    cwd,
    place: null,
  } as const;
  return {
    url: proxy.url,
    end: async () => {
      await close();
      if (signal.aborted) throw new CancelledError(undefined, { cause: signal.reason });
      const conversion = {
        split: rule,
        out: file,
        existing: null,
        workspace: null,
        variables,
        machine: readMachine(),
        redactor,
        context: { ...context, environment: { ...environment } },
      };
      const converting = cancelWith(signal, async () => {
        const { text, cases, commentedOut, left } = await convertSession({ head, entries }, conversion);
        return { text, cases, commentedOut, left };
      });
      return await settle(converting);
    },
    [Symbol.asyncDispose]: async () => await settle(close()),
  };
}
