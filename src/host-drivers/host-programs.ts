import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { arch, platform } from 'node:os';
import { dirname, join } from 'node:path';
import { Disposer } from '../base/disposal.ts';
import { describeError, SandboxError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import { clipText } from '../base/text.ts';
import { type Clock, startTimeLimit } from '../base/time.ts';
import type { TextMask } from '../models/language-model.ts';
import { nodeProgram } from '../server/node-program.ts';
import { createOutputTail } from '../server/output-tail.ts';
import { startProcess } from '../server/process.ts';
import { findProgram } from '../server/programs.ts';
import { listenOnLoopback } from '../server/proxy-listener.ts';
import { type OpenedSandbox, openSandbox } from '../server/sandbox/open-sandbox.ts';
import { makeTemporaryRoot, removeTree } from '../server/temporary-root.ts';
import { findAdapter } from './catalog.ts';
import {
  type HostAdapter,
  type HostOutput,
  type ProviderRequest,
  type ProviderResponse,
  readVersion,
} from './driver.ts';
import { type AnswerMcp, serveMcp } from './mcp-socket.ts';
import { createPlaceMask, placeholders } from './place-mask.ts';
import { openProviderProxy } from './provider-proxy.ts';
import { stubProgram } from './stub.ts';

/** What a case asks of the program of a host. */
export interface HostSettings {
  id: string;
  /** The exact version. */
  version: string;
  builtIns: 'on' | 'off';
  /** True if the host may reach the network of the machine where it cannot be kept from it. */
  allowsNetwork: boolean;
}

/** One prompt to a host, and the two sides that the gate answers. */
export interface HostTurn {
  model: string;
  prompt: string;
  servers: ReadonlyArray<{ name: string; answer: AnswerMcp }>;
  /** Answers a request to the provider. The mask has the paths of this run. Never rejects. */
  answerProvider: (request: ProviderRequest, mask: TextMask) => Promise<ProviderResponse>;
  /** Ends the host once it aborts. */
  signal: AbortSignal;
}

export interface HostEnd {
  output: HostOutput;
  /** Why the program failed, as a clause; null if it ended by itself with exit code 0. */
  failure: string | null;
}

/** A host that is installed here in the version that a case asks for. */
export interface HostProgram {
  readonly adapter: HostAdapter;
  /** Such as `linux-x64`. */
  readonly platform: string;
  /** Runs the host once, in a HOME and a directory of its own. Resolves after its processes have ended. */
  run(turn: HostTurn): Promise<HostEnd>;
}

/** The hosts of one gate. Disposing it ends their sandboxes. */
export interface HostPrograms extends AsyncDisposable {
  /** `problem` is a sentence: the host is missing, has another version, or cannot be kept from the network. */
  open(settings: HostSettings): Promise<HostProgram | { problem: string }>;
}

interface Context {
  clock: Clock;
  logger: Logger;
  environment: Readonly<Record<string, string | undefined>>;
  cwd: string;
}

export function createHostPrograms(context: Context): HostPrograms {
  const versions = new Map<string, Promise<string | { problem: string }>>();
  const sandboxes = new Map<boolean, Promise<OpenedSandbox | { problem: string }>>();
  return {
    open: async (settings) => {
      const { id, version, allowsNetwork, builtIns } = settings;
      const adapter = findAdapter(id);
      if (adapter === undefined) return { problem: `The gate cannot drive the host ${id}.` };
      const file = findProgram(adapter.program, { path: context.environment['PATH'] });
      if (file === null) {
        const hint = `Install ${id} ${version} in a step before the gate.`;
        return { problem: `The host ${id} is not installed: there is no program ${adapter.program} in PATH. ${hint}` };
      }
      const found = await getOnce(versions, id, () => askVersion(adapter, file, context));
      if (typeof found !== 'string') return found;
      if (found !== version) {
        return { problem: `The case asks for ${id} ${version}, and ${found} is installed.` };
      }
      if (builtIns === 'off' && !adapter.canDropBuiltIns) {
        return { problem: `The host ${id} cannot run without its own tools (\`built-ins: off\`).` };
      }
      const opened = await getOnce(sandboxes, allowsNetwork, () => openHostSandbox(id, allowsNetwork, context));
      if ('problem' in opened) return opened;
      return {
        adapter,
        platform: `${platform()}-${arch()}`,
        run: async (turn) => await runHost({ adapter, file, settings, opened }, turn, context),
      };
    },
    [Symbol.asyncDispose]: async () => {
      for (const opening of sandboxes.values()) {
        const opened = await opening;
        if (!('problem' in opened)) await opened[Symbol.asyncDispose]();
      }
    },
  };
}

async function getOnce<Key, Value>(
  known: Map<Key, Promise<Value>>,
  key: Key,
  make: () => Promise<Value>,
): Promise<Value> {
  const making = known.get(key) ?? make();
  known.set(key, making);
  return await making;
}

/** The host gets a network of its own, which has only the loopback interface with the proxy, or that of the machine if a case allows it. */
async function openHostSandbox(
  id: string,
  allowsNetwork: boolean,
  { cwd, environment, logger }: Context,
): Promise<OpenedSandbox | { problem: string }> {
  try {
    return await openSandbox(
      {
        mode: 'auto',
        network: allowsNetwork ? 'on' : 'off',
        writable: [],
        protect: [cwd],
        make: { directories: [], files: [] },
      },
      { cwd: '/', environment: { ...environment }, logger },
    );
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    const hint = 'Write `allow-host-network: true` if the host may use the network of this machine.';
    return { problem: `The host ${id} cannot be kept from the network here: ${describeError(error)} ${hint}` };
  }
}

function describeEnvironment(environment: Context['environment'], root: string): Record<string, string> {
  return {
    PATH: environment['PATH'] ?? '',
    HOME: join(root, 'home'),
    TMPDIR: join(root, 'tmp'),
    USER: 'user',
    TERM: 'dumb',
    TZ: 'UTC',
    LANG: 'C.UTF-8',
    SHLVL: '1',
  };
}

function makePlace(): string {
  const root = makeTemporaryRoot('mcp-eval-host-');
  for (const name of ['home', 'work', 'tmp']) mkdirSync(join(root, name), { mode: 0o700 });
  return root;
}

async function askVersion(
  adapter: HostAdapter,
  file: string,
  { clock, environment }: Context,
): Promise<string | { problem: string }> {
  const root = makePlace();
  using limit = startTimeLimit(clock, { afterMs: 60_000, what: `The version of ${adapter.id}` });
  try {
    const { stdout, failure } = await runProgram([file, '--version'], {
      root,
      cwd: join(root, 'work'),
      env: describeEnvironment(environment, root),
      clock,
      opened: null,
      signal: limit.signal,
    });
    const version = readVersion(stdout);
    return version ?? { problem: `The host ${adapter.id} names no version${failure === null ? '' : `: ${failure}`}.` };
  } finally {
    removeTree(root);
  }
}

async function runHost(
  {
    adapter,
    file,
    settings,
    opened,
  }: { adapter: HostAdapter; file: string; settings: HostSettings; opened: OpenedSandbox },
  { model, prompt, servers, answerProvider, signal }: HostTurn,
  { clock, environment }: Context,
): Promise<HostEnd> {
  const root = makePlace();
  await using resources = new Disposer();
  resources.defer(() => removeTree(root));
  const [home, directory] = [join(root, 'home'), join(root, 'work')];
  const mask = createPlaceMask([
    [home, placeholders.home],
    [directory, placeholders.directory],
    [root, placeholders.root],
  ]);
  const stub = join(root, 'stub.mjs');
  writeFileSync(stub, stubProgram);
  const entries: Array<{ name: string; command: [string, ...string[]] }> = [];
  for (const [index, { name, answer }] of servers.entries()) {
    const socket = join(root, `mcp-${index}.sock`);
    resources.use(await serveMcp(socket, answer));
    entries.push({ name, command: [nodeProgram, stub, socket] });
  }
  const token = randomBytes(24).toString('base64url');
  const listener = await (opened.sandbox?.listen ?? listenOnLoopback)();
  const proxy = resources.use(
    openProviderProxy(listener, { token, answer: async (request) => await answerProvider(request, mask) }),
  );
  const start = adapter.start({
    home,
    directory,
    servers: entries,
    provider: { url: proxy.url, token },
    model,
    prompt,
    builtIns: settings.builtIns,
  });
  for (const [path, text] of start.files) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { mode: 0o600 });
  }
  const { stdout, stderr, failure } = await runProgram([file, ...start.args], {
    root,
    cwd: directory,
    env: { ...describeEnvironment(environment, root), ...start.env },
    input: start.input ?? '',
    clock,
    opened,
    signal,
  });
  return { output: adapter.readOutput({ stdout, stderr }), failure };
}

/** The end of a longer output is read: it has the answer. */
const maxOutputBytes = 64 * 1024 * 1024;
const longestLine = 300;

/** goose dies if a pipe for its output is full, so that all output goes to files. */
const redirection = ['/bin/sh', '-c', 'exec >"$0" 2>"$1"; shift; exec "$@"'];

/** Runs a program in a process group of its own, to its end or until the signal aborts. `root` gets its output. */
async function runProgram(
  command: readonly string[],
  {
    root,
    opened,
    signal,
    input = '',
    ...place
  }: {
    root: string;
    input?: string;
    cwd: string;
    env: Record<string, string>;
    clock: Clock;
    opened: OpenedSandbox | null;
    signal: AbortSignal;
  },
): Promise<{ stdout: string; stderr: string; failure: string | null }> {
  const [stdoutFile, stderrFile] = [join(root, 'stdout'), join(root, 'stderr')];
  const program = startProcess([...redirection, stdoutFile, stderrFile, ...command], {
    ...place,
    sandbox: opened?.sandbox ?? null,
    tail: createOutputTail(),
    readsStdin: false,
  });
  program.stdin.end(input);
  program.stdout.resume();
  const stop = () => void program.kill();
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  try {
    const exit = await program.exited;
    const [stdout, stderr] = [await readEnd(stdoutFile), await readEnd(stderrFile)];
    const last = stderr.split('\n').findLast((line) => line.trim() !== '');
    const why = last === undefined ? '' : ` (${clipText(last.trim(), longestLine)})`;
    const ended = exit.signal === null ? `it ended with exit code ${exit.code}${why}` : `${exit.signal} ended it${why}`;
    const failure = exit.error === undefined ? (exit.code === 0 ? null : ended) : exit.error.message;
    return { stdout, stderr, failure };
  } finally {
    signal.removeEventListener('abort', stop);
    await program.kill();
  }
}

/** Reads the end of a file; nothing from one that is missing, since the program never started. */
async function readEnd(path: string): Promise<string> {
  const file = await open(path).catch(() => null);
  if (file === null) return '';
  await using _closed = file;
  const { size } = await file.stat();
  const { buffer, bytesRead } = await file.read({
    buffer: Buffer.alloc(Math.min(size, maxOutputBytes)),
    position: Math.max(0, size - maxOutputBytes),
  });
  return buffer.toString('utf8', 0, bytesRead);
}
