import type { ChildProcess } from 'node:child_process';
import { closeSync, openSync, statSync } from 'node:fs';
import { constants, devNull } from 'node:os';
import { join, resolve } from 'node:path';
import { ConfigurationError, describeError } from '../base/errors.ts';
import { isWithin, readTextFile } from '../base/files.ts';
import { findOutputRoot, writeOutput } from '../base/output-files.ts';
import type { Redactor } from '../base/redaction.ts';
import { captureConfig } from '../capture/host-config.ts';
import { parseSplit } from '../capture/split.ts';
import { placeCommand } from '../capture/place-command.ts';
import { passThrough } from '../capture/pass-through.ts';
import { spawnByName } from '../server/spawn.ts';
import { makeTemporaryRoot, removeTree } from '../server/temporary-root.ts';
import { fillPlace, namePlace, type PlacePaths } from '../workspace/place.ts';
import { showPaths } from '../workspace/placeholders.ts';
import { readWorkspace, type Workspace } from '../workspace/workspace.ts';
import { type CaptureFlags, readVariables } from './capture-flags.ts';
import { startRecorder } from './start-recorder.ts';
import { redactText } from './command-logger.ts';

/** Passes a session through, records it, or writes evals from a journal, as the flags say. Returns the exit code. */
export async function capture(words: string[], flags: CaptureFlags, redactor: Redactor): Promise<number> {
  if (flags.recorder !== undefined) {
    const { record } = await import('./capture-recorder.ts');
    return await record(words, flags, redactor);
  }
  if (flags.from !== undefined) {
    checkOut(flags);
    const { convertFile } = await import('./capture-recorder.ts');
    const say = (text: string) => process.stdout.write(`${redactText(text, redactor)}\n`);
    await convertFile(flags.from, flags, { redactor, say, isOwn: false, words });
    return 0;
  }
  if (flags.config !== undefined) {
    await writeConfig(flags.config, flags.write === true);
    return 0;
  }
  if (flags.write === true) fail('write', 'missing-config', 'writes the file of `--config`; name it');
  if (flags.url !== undefined || flags.port !== undefined) {
    checkOut(flags);
    const { captureHttp } = await import('./capture-http.ts');
    return await captureHttp(words, flags, redactor);
  }
  checkFlags(words, flags);
  return await runSession(words, flags);
}

function fail(input: string, code: string, message: string): never {
  throw new ConfigurationError([{ input, code, message }]);
}

function checkOut({ out, split }: CaptureFlags): void {
  if (out === undefined) fail('out', 'missing-out', 'name the evals file to write, such as evals/session.evals.yaml');
  if (existsDirectory(out)) fail('out', 'invalid-value', `${out} is a directory; name an evals file in it`);
  parseSplit(split);
}

function existsDirectory(path: string | undefined): boolean {
  return path !== undefined && statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function checkFlags(words: readonly string[], flags: CaptureFlags): void {
  checkOut(flags);
  if (words.length === 0) {
    fail(
      'capture',
      'missing-server',
      'write the command of the server after `--`: capture --out evals/session.evals.yaml -- node build/index.js',
    );
  }
  for (const entry of flags.serverEnv) {
    if (!/^[^=\s]+=/.test(entry)) fail('server-env', 'invalid-value', 'has a value that is not NAME=value');
  }
}

/** Prints or writes the configuration of a host, in which each command is captured. */
async function writeConfig(path: string, isWritten: boolean): Promise<void> {
  const cwd = process.cwd();
  const text = await readTextFile(path).catch((error: unknown) => fail('config', 'unreadable', describeError(error)));
  // A host of a whole machine starts its servers in a directory of its own.
  const isOfProject = isWithin(cwd, resolve(cwd, path));
  const captured = captureConfig(text, (slug) => {
    const out = `evals/${slug}.evals.yaml`;
    return isOfProject ? out : join(cwd, out);
  });
  if (captured === null) {
    return fail('config', 'no-config', `${path} is no JSON with \`mcpServers\` or \`servers\`, each with its command`);
  }
  for (const { name, reason } of captured.left) process.stderr.write(`${name}: ${reason}; its entry stays as it is.\n`);
  if (isWritten) writeOutput(path, captured.text, { root: findOutputRoot(path, cwd) });
  else process.stdout.write(captured.text);
}

/** Starts the server, and passes everything between it and the client of this process. */
async function runSession(words: readonly string[], flags: CaptureFlags): Promise<number> {
  await using place = await openPlace(flags.workspace);
  const start = placeServer(words, flags, place.copy);
  const recorder = startRecorder(place.copy?.paths.workspace ?? null);
  const server = spawnByName(start.file, start.args, {
    cwd: start.cwd,
    env: start.env,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const { stdin, stdout } = server;
  if (stdin === null || stdout === null) throw new Error('A server has pipes.');
  const ended = waitForEnd(server);
  const stopForwarding = forwardSignals(server);
  const passed = passThrough(
    { input: process.stdin, output: process.stdout },
    { input: stdout, output: stdin },
    (from, chunk) => recorder.send({ from, timeMs: Date.now(), bytes: chunk }),
  );
  stdout.once('close', closeStdout);
  const end = await ended;
  await Promise.race([passed, waitForQuiet(stdout)]);
  recorder.close();
  stopForwarding();
  if (end.error !== null) {
    const code = 'not-started';
    throw new ConfigurationError([{ input: 'capture', code, message: `${words[0]} cannot be started: ${end.error}` }]);
  }
  // A person waits for the result. A host waits for the end of its server.
  if (process.stderr.isTTY) await recorder.done;
  await place[Symbol.asyncDispose]();
  if (end.signal !== null) process.kill(process.pid, end.signal);
  return end.code ?? 128 + constants.signals[end.signal ?? 'SIGTERM'];
}

interface OpenPlace extends AsyncDisposable {
  /** The copy in which the server works, and the files; null if the server works where this process does. */
  copy: { paths: PlacePaths; workspace: Workspace } | null;
}

async function openPlace(written: string | undefined): Promise<OpenPlace> {
  if (written === undefined) return { copy: null, [Symbol.asyncDispose]: async () => {} };
  const workspace = await readWorkspace(written, process.cwd());
  const root = makeTemporaryRoot('mcp-eval-ci-capture-');
  const paths = namePlace(root);
  await fillPlace(paths, workspace);
  return {
    copy: { paths, workspace },
    [Symbol.asyncDispose]: async () => {
      removeTree(root);
    },
  };
}

/** The server starts as without this process, apart from a copy of the workspace and its variables. */
function placeServer(words: readonly string[], { serverEnv }: CaptureFlags, copy: OpenPlace['copy']) {
  const cwd = process.cwd();
  const env = { ...process.env, ...readVariables(serverEnv) };
  if (copy === null) {
    const [file = '', ...args] = words;
    return { file, args, cwd, env };
  }
  const { paths, workspace } = copy;
  const [file = '', ...args] = placeCommand(words, cwd, workspace).map((word) => showPaths(word, paths));
  return { file, args, cwd: paths.workspace, env: showPaths(env, paths) };
}

interface ServerEnd {
  code: number | null;
  signal: NodeJS.Signals | null;
  error: string | null;
}

async function waitForEnd(server: ChildProcess): Promise<ServerEnd> {
  return await new Promise((resolve) => {
    server.once('error', (error) => resolve({ code: null, signal: null, error: describeError(error) }));
    server.once('exit', (code, signal) => resolve({ code, signal, error: null }));
  });
}

/** How long a stream has to be silent after the server has ended, before a process that inherited it is not waited for. */
const quietMs = 500;

async function waitForQuiet(stdout: NonNullable<ChildProcess['stdout']>): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, quietMs);
    stdout.on('data', () => timer.refresh());
  });
}

/** Node never closes its stdout. The descriptor is replaced, so that no other file gets its number. */
function closeStdout(): void {
  const close = () => {
    closeSync(1);
    openSync(devNull, 'w');
  };
  if (process.stdout.writableFinished || process.stdout.destroyed) close();
  else process.stdout.once('finish', close);
}

/** A terminal sends Ctrl+C to the server, too. */
function forwardSignals(server: ChildProcess): () => void {
  const names: NodeJS.Signals[] = ['SIGTERM', 'SIGHUP', 'SIGINT', 'SIGQUIT'];
  const listeners = names.map((name) => {
    const isOfTerminal = (name === 'SIGINT' || name === 'SIGQUIT') && (process.stdin.isTTY || process.stderr.isTTY);
    const listener = () => {
      if (!isOfTerminal) server.kill(name);
    };
    process.on(name, listener);
    return { name, listener };
  });
  return () => {
    for (const { name, listener } of listeners) process.off(name, listener);
  };
}
