import { existsSync, rmSync } from 'node:fs';
import { ConfigurationError, describeError } from '../base/errors.ts';
import { readTextFile } from '../base/files.ts';
import { silentLogger } from '../base/logger.ts';
import { findOutputRoot, writeOutput } from '../base/output-files.ts';
import { type Redactor, redactDeep } from '../base/redaction.ts';
import { formatCount } from '../base/text.ts';
import { systemClock } from '../base/time.ts';
import { addEnvironmentSecrets, readMachine } from '../capture/clean.ts';
import { type Converted, convertSession } from '../capture/convert.ts';
import { readFrames } from '../capture/frames.ts';
import { createLineReader, type Journal, type JournalHead, parseJournal } from '../capture/journal.ts';
import { claimJournals, openJournal } from '../capture/journal-file.ts';
import { lockOut } from '../capture/out-lock.ts';
import { readExports } from '../capture/read-exports.ts';
import { parseSplit } from '../capture/split.ts';
import { joinCommand } from '../server/split-command.ts';
import { type CaptureFlags, readVariables } from './capture-flags.ts';
import { redactText } from './command-logger.ts';

/** Records the session that comes as frames on stdin, and writes evals when it ends. Returns the exit code. */
export async function record(words: readonly string[], flags: CaptureFlags, redactor: Redactor): Promise<number> {
  // The process that passes the session through may have ended before this one.
  const say = (text: string) => process.stderr.write(`${redactText(text, redactor)}\n`);
  const { out = '', recorder: place = '' } = flags;
  addEnvironmentSecrets({ ...process.env, ...readVariables(flags.serverEnv) }, redactor);
  const head: JournalHead = {
    journal: 'mcp-eval-ci capture',
    version: 1,
    command: [...words],
    // Its query may have a secret.
    url: flags.url === undefined ? null : flags.url.replace(/[?#].*/, ''),
    cwd: process.cwd(),
    place: place === '' ? null : place,
  };
  let hasFailed = false;
  const journal = openJournal(out, redactDeep(head, redactor), (reason) => {
    hasFailed = true;
    say(`mcp-eval-ci capture: the journal of the session cannot be written: ${reason}`);
  });
  const read = createLineReader();
  for await (const frame of readFrames(process.stdin)) {
    for (const entry of read(frame)) journal.append(redactDeep(entry, redactor));
  }
  try {
    for (const path of claimJournals(out)) await convertFile(path, flags, { redactor, say, isOwn: true });
    const entries = existsSync(journal.path)
      ? readEntries(await readTextFile(journal.path, { maxBytes: maxJournalBytes }))
      : [];
    say(await convert({ head, entries: [...entries, ...journal.unwritten] }, flags, redactor));
    journal.remove();
    return 0;
  } catch (error) {
    if (!hasFailed)
      say(
        `mcp-eval-ci capture: no evals were written: ${describeError(error)}\nThe session is in ${journal.path}. Try again with \`--from ${journal.path}\`.`,
      );
    return 3;
  }
}

/** Journals are limited by the disk; this is what fits into memory. */
const maxJournalBytes = 512 * 1024 * 1024;

function readEntries(text: string): Journal['entries'] {
  const journal = parseJournal(text);
  return 'entries' in journal ? journal.entries : [];
}

/** Converts the journal of an earlier session. The one of a recorder that was killed is removed then. */
export async function convertFile(
  path: string,
  flags: CaptureFlags,
  {
    redactor,
    say,
    isOwn,
    words = [],
  }: { redactor: Redactor; say: (text: string) => void; isOwn: boolean; words?: readonly string[] },
): Promise<void> {
  const journal = await readSource(path, flags, words);
  say(await convert(journal, flags, redactor));
  if (isOwn) rmSync(path, { force: true });
}

/**
 * Reads a journal, or exported traces, whose server is the one of the command line.
 *
 * @throws {ConfigurationError} with the line of a file that is neither
 */
async function readSource(
  path: string,
  { url = null }: { url?: string | null },
  words: readonly string[],
): Promise<Journal> {
  const fail = (message: string, line?: number): never => {
    throw new ConfigurationError([
      { file: path, ...(line !== undefined && { line, column: 1 }), code: 'no-journal', message },
    ]);
  };
  const reading = readTextFile(path, { maxBytes: maxJournalBytes });
  const text = await reading.catch((error: unknown) => fail(describeError(error)));
  const journal = parseJournal(text);
  if ('entries' in journal) return journal;
  // The head is the first line: what follows it is of a journal.
  if (journal.line > 1) return fail(`expected ${journal.expected}`, journal.line);
  const entries = readExports(text);
  if ('expected' in entries) return fail(`expected ${journal.expected}, or ${entries.expected}`, entries.line);
  const head: JournalHead = {
    journal: 'mcp-eval-ci capture',
    version: 1,
    command: [...words],
    url,
    cwd: process.cwd(),
    place: null,
  };
  return { head, entries };
}

/** Converts a session, writes the file, and describes the result. */
async function convert(journal: Journal, flags: CaptureFlags, redactor: Redactor): Promise<string> {
  const cwd = process.cwd();
  const { out = '' } = flags;
  using _lock = await lockOut(out, systemClock);
  const appends = flags.append === true && existsSync(out);
  const target = appends ? out : nameFree(out);
  const converted = await convertSession(journal, {
    split: parseSplit(flags.split),
    out: target,
    existing: appends ? await readTextFile(out) : null,
    workspace: flags.workspace ?? null,
    variables: readVariables(flags.serverEnv),
    machine: readMachine(),
    redactor,
    context: {
      clock: systemClock,
      logger: silentLogger,
      signal: new AbortController().signal,
      environment: process.env,
    },
  });
  const written = converted.isApart ? nameFree(target) : target;
  if (converted.text !== null) writeOutput(written, converted.text, { root: findOutputRoot(written, cwd) });
  return describe(converted, { target: written, journal, flags });
}

/** An existing file stays: `session.evals.yaml` becomes `session-2.evals.yaml`. */
function nameFree(path: string): string {
  const [, stem = path, ending = ''] = /^(.*?)((?:\.evals)?\.(?:ya?ml|json))$/.exec(path) ?? [];
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? path : `${stem}-${number}${ending}`;
    if (!existsSync(name)) return name;
  }
}

function describe(
  { text, isApart, cases, commentedOut, known, left }: Converted,
  { target, journal, flags }: { target: string; journal: Journal; flags: CaptureFlags },
): string {
  const others = left.map(({ subject, reason }) => `  left out: ${subject}: ${reason}`);
  if (text === null) {
    const why = known > 0 ? `${target} has its calls already` : 'the session called nothing';
    return [`Nothing was written: ${why}.`, ...others].join('\n');
  }
  const drafts = commentedOut === 0 ? '' : `, and ${formatCount(commentedOut, 'case')} commented out with the reason`;
  const variables = flags.serverEnv.length === 0 ? '' : ', with your `--server-env`';
  const command =
    journal.head.url === null
      ? `--server-command ${joinCommand([joinCommand(journal.head.command)])}`
      : `--server-url ${journal.head.url}`;
  return [
    ...(isApart && flags.out !== undefined
      ? [`${flags.out} is invalid, or has no list of cases in block style to add to.`]
      : []),
    `Wrote ${target} with ${formatCount(cases, 'case')}${drafts}.`,
    ...others,
    `Run it: mcp-eval-ci run --evals ${joinCommand([target])} ${command}${variables}`,
  ].join('\n');
}
