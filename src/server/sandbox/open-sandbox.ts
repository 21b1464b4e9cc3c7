import type { ChildProcess } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, sep } from 'node:path';
import { describeError, SandboxError } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import { clipText } from '../../base/text.ts';
import type { SandboxReport } from '../../model/report.ts';
import { createNamespaceListeners, type Listen } from '../proxy-listener.ts';
import { lookForInput, spawnProgram } from '../spawn.ts';
import { enableNamespaces } from './enable-namespaces.ts';
import { holdSandbox } from './lease.ts';
import { planMounts, type SideMounts } from './mounts.ts';
import { listOwnCode } from './own-code.ts';
import {
  buildBubblewrap,
  buildNetworkEntry,
  buildStart,
  buildUnshare,
  listDescriptors,
  type Namespaces,
  type SandboxTools,
  type SandboxUser,
} from './scripts.ts';
import { checkProgram, findTools, listToolDirectories } from './tools.ts';

/** The limits for what a server may see and change, as far as the machine can enforce them. */
export interface SandboxOptions {
  mode: 'auto' | 'off' | 'required';
  network: 'on' | 'off';
  /** True to change the settings of a hosted runner that forbid a sandbox. */
  isEnabled?: boolean;
  /** Absolute paths that a server may write to with `required`. */
  writable: readonly string[];
  /** Absolute paths that decide the verdict and that a server must not change. */
  protect: readonly string[];
  /** The protected paths to create if they are missing, since only existing ones can be protected. */
  make: { directories: readonly string[]; files: readonly string[] };
  /** The mounts for a server that is one side of a comparison. */
  side?: SideMounts;
}

/** A command that starts a program in the sandbox. */
export interface SandboxedStart {
  command: string[];
  env: Record<string, string>;
  /** The descriptors from 4 on. Descriptor 3 ends the sandbox when it closes. */
  descriptors: Array<number | 'ignore'>;
}

/** The namespaces in which every process of a server starts. */
export interface Sandbox {
  /** @throws the error of the system if the program or the directory does not exist */
  wrap(words: readonly string[], place: { cwd: string; env: Record<string, string> }): SandboxedStart;
  /** Opens sockets on the loopback interface of the sandbox; null if that is the machine's. */
  readonly listen: Listen | null;
}

export interface OpenedSandbox extends AsyncDisposable {
  /** Null if the server is started without a sandbox. */
  readonly sandbox: Sandbox | null;
  readonly report: SandboxReport;
}

interface SandboxContext {
  cwd: string;
  environment: NodeJS.ProcessEnv;
  logger: Logger;
}

/** Each step takes milliseconds, or seconds on a busy machine; a step that takes this long will not end. */
const stepTimeoutMs = 30_000;

/**
 * Makes the requested sandbox and tries it once.
 *
 * @throws {SandboxError} if it is required, or the network must be off, and this machine cannot make one
 */
export async function openSandbox(options: SandboxOptions, context: SandboxContext): Promise<OpenedSandbox> {
  const without = (why: string): OpenedSandbox => ({
    sandbox: null,
    report: { level: 'none', network: 'shared', why },
    [Symbol.asyncDispose]: async () => {},
  });
  if (options.mode === 'off') return without('`sandbox` is `off`');
  if (options.isEnabled === true) await enableOnce(context);
  const opened = await tryToOpen(options, context);
  if (!('why' in opened)) return opened;
  if (options.mode === 'required') throw new SandboxError(`\`sandbox: required\` cannot be met: ${opened.why}.`);
  if (options.network === 'off') throw new SandboxError(`\`sandbox-network: off\` cannot be met: ${opened.why}.`);
  context.logger.debug(`The server runs without a sandbox: ${opened.why}.`);
  return without(opened.why);
}

let enabling: Promise<void> | null = null;

/** The servers of one gate share a machine. */
async function enableOnce(context: SandboxContext): Promise<void> {
  enabling ??= enableNamespaces(context);
  await enabling;
}

async function tryToOpen(
  options: SandboxOptions,
  { cwd, environment }: SandboxContext,
): Promise<OpenedSandbox | { why: string }> {
  if (process.platform !== 'linux') return { why: `a sandbox needs Linux, and this is ${process.platform}` };
  const tools = findTools(environment['PATH']);
  if ('missing' in tools)
    return { why: `a sandbox needs ${tools.missing.join(', ')} of util-linux in a directory of PATH` };
  const user = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  // A side has its own temporary directory at every level.
  const temporary =
    options.mode === 'required' && options.side === undefined ? mkdtempSync(join(tmpdir(), 'mcp-eval-server-')) : null;
  const dispose = () => temporary !== null && rmSync(temporary, { recursive: true, force: true });
  try {
    const made = await makeNamespaces(options, { tools, user, temporary, cwd, environment });
    if ('why' in made) {
      dispose();
      return made;
    }
    const { namespaces, tool } = made;
    const isConfined = options.mode === 'required';
    const entry = buildNetworkEntry(tools, namespaces);
    const listeners = entry === null ? null : createNamespaceListeners(entry, listDescriptors(namespaces));
    return {
      sandbox: createSandbox({
        tools,
        user,
        namespaces,
        temporary,
        writable: options.writable,
        side: options.side ?? null,
        listen: listeners?.listen ?? null,
      }),
      report: {
        level: isConfined ? 'confined' : 'isolated',
        network: options.network === 'off' ? 'loopback' : 'shared',
        why: `made with ${tool}`,
      },
      [Symbol.asyncDispose]: async () => {
        await listeners?.[Symbol.asyncDispose]();
        closeNamespaces(namespaces);
        dispose();
      },
    };
  } catch (error) {
    dispose();
    return { why: describeError(error) };
  }
}

interface Making {
  tools: SandboxTools;
  user: SandboxUser;
  temporary: string | null;
  cwd: string;
  environment: NodeJS.ProcessEnv;
}

/** Makes the namespaces that all processes of the server share, with the first tool that works, and tries them. */
async function makeNamespaces(
  options: SandboxOptions,
  making: Making,
): Promise<{ namespaces: Namespaces; tool: string } | { why: string }> {
  const { tools, user, temporary, cwd, environment } = making;
  const isConfined = options.mode === 'required';
  for (const path of options.make.directories) mkdirSync(path, { recursive: true });
  for (const path of options.make.files) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, '', { flag: 'a' });
  }
  const own = listOwnCode();
  const roaming = [cwd, environment['HOME'] ?? '', environment['TMPDIR'] ?? '', tmpdir()].filter((path) => path !== '');
  // On an unusual system, the tools' directories contain the directories of the job. They stay writable then, since the server has to
  // work there.
  const fixed = listToolDirectories(tools).filter((path) => !roaming.some((work) => `${work}/`.startsWith(`${path}/`)));
  const { side = null } = options;
  const steps = planMounts({
    isConfined,
    protect: [...options.protect, ...own.protect, ...fixed],
    writable: [
      ...(isConfined ? [] : own.writable.filter((path) => side === null || isIn(side.work, path))),
      ...(isConfined || side !== null ? options.writable : []),
      ...(temporary === null ? [] : [temporary]),
      ...(side === null ? [] : listOwnDirectories(side, isConfined)),
    ],
    side,
    roaming,
  });
  const request = { steps, user, hasNetwork: options.network === 'on', isClosed: isConfined || side !== null };
  const failures: string[] = [];
  const makers: Array<[string, string[] | null]> = [
    ['bwrap', buildBubblewrap(tools, request)],
    ['unshare', buildUnshare(tools, request)],
  ];
  for (const [tool, command] of makers) {
    if (command === null) continue;
    const made = await makeWith(command, { user, hasNetwork: request.hasNetwork });
    if ('why' in made) {
      failures.push(`${tool} failed (${made.why})`);
      continue;
    }
    const why = await tryOut(
      createSandbox({ tools, user, namespaces: made, temporary, writable: [], side, listen: null }),
      cwd,
    );
    if (why === null) return { namespaces: made, tool };
    closeNamespaces(made);
    failures.push(`${tool} failed (${why})`);
  }
  return {
    why: failures.length === 0 ? 'nothing brings up the loopback interface; install bwrap or ip' : failures.join('; '),
  };
}

function isIn(directories: readonly string[], path: string): boolean {
  return directories.some((directory) => path.startsWith(`${directory}${sep}`));
}

function listOwnDirectories({ home, temporary, upper, work }: SideMounts, isConfined: boolean): string[] {
  return [temporary, upper, ...(home === null ? [] : [home.path]), ...(isConfined ? [] : work)];
}

/** Opens the namespaces of a process, which then ends: the open files keep them. */
async function makeWith(
  command: readonly string[],
  { user, hasNetwork }: { user: SandboxUser; hasNetwork: boolean },
): Promise<Namespaces | { why: string }> {
  const [file = '', ...args] = command;
  const child = spawnProgram(file, args, { cwd: '/', env: {}, stdio: ['pipe', 'pipe', 'pipe'] });
  child.stdin?.on('error', () => {});
  try {
    const ended = readEnd(child, child.stderr);
    const ready = new Promise<string>((resolve) => {
      child.stdout?.once('data', (chunk: Buffer) => resolve(String(chunk)));
    });
    const first = await Promise.race([ready, ended]);
    const pid = typeof first === 'string' ? /^ready (\d+)/.exec(first)?.[1] : undefined;
    if (pid === undefined) return { why: typeof first === 'string' ? clipText(first.trim(), 200) : first.text };
    const open = (name: string) => openSync(`/proc/${pid}/ns/${name}`, 'r');
    return { mnt: open('mnt'), user: user.uid === 0 ? null : open('user'), net: hasNetwork ? null : open('net') };
  } finally {
    child.stdin?.end();
    child.stdout?.destroy();
  }
}

/** Runs a program that ends by a signal. This proves that programs start, and that their end is passed on. Null if it works. */
async function tryOut(sandbox: Sandbox, cwd: string): Promise<string | null> {
  const { command, env, descriptors } = sandbox.wrap(['/bin/sh', '-c', 'kill -KILL $$'], { cwd, env: {} });
  const [file = '', ...args] = command;
  const child = spawnProgram(file, args, {
    cwd: '/',
    env,
    stdio: ['ignore', 'ignore', 'pipe', 'pipe', ...descriptors],
  });
  const lease = holdSandbox(child);
  const end = await readEnd(child, child.stderr);
  lease.release();
  // SIGKILL also ends everything else in the namespace, so `hasStarted` has to show that the program itself ran.
  return end.signal === 'SIGKILL' && lease.hasStarted && !end.isTimeout ? null : end.text;
}

async function readEnd(
  child: ChildProcess,
  stderr: NodeJS.ReadableStream | null,
): Promise<{ signal: NodeJS.Signals | null; text: string; isTimeout: boolean }> {
  let text = '';
  let isTimeout = false;
  stderr?.on('data', (chunk: Buffer) => {
    text += String(chunk);
  });
  const timer = setTimeout(() => {
    isTimeout = true;
    child.kill('SIGKILL');
  }, stepTimeoutMs);
  const ended = await new Promise<{ code: number | null; signal: NodeJS.Signals | null } | Error>((resolve) => {
    child.on('error', resolve);
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
  clearTimeout(timer);
  if (ended instanceof Error) return { signal: null, text: describeError(ended), isTimeout };
  await lookForInput();
  const line = clipText(text.trim().split('\n', 1)[0] ?? '', 200);
  const why = isTimeout ? 'it did not answer' : line || `exit code ${ended.code ?? ended.signal}`;
  return { signal: ended.signal, text: why, isTimeout };
}

function closeNamespaces({ mnt, user, net }: Namespaces): void {
  for (const descriptor of [mnt, user, net]) if (descriptor !== null) closeSync(descriptor);
}

/** The environment variables that a shell changes for the programs that it starts. */
const shellVariables = ['PWD', 'OLDPWD', 'SHLVL', '_'];

/** Variables with which the programs that make the sandbox, outside of it, would load code or behave differently. */
const lateVariable =
  /^(?:LD_|GLIBC_|GCONV_|LIBMOUNT_|BASH|SHELLOPTS$|POSIXLY_CORRECT$|ENV$|IFS$|CDPATH$|LOCPATH$|NLSPATH$)/;

function createSandbox({
  tools,
  user,
  namespaces,
  temporary,
  writable,
  side,
  listen,
}: Pick<Making, 'tools' | 'user' | 'temporary'> & {
  namespaces: Namespaces;
  writable: readonly string[];
  side: SideMounts | null;
  listen: Listen | null;
}): Sandbox {
  // Programs that the side has installed are only in the layer over its HOME.
  const findInstalled = (path = '') =>
    side?.home == null ? [] : path.split(':').filter((directory) => isIn([side.home?.path ?? ''], directory));
  return {
    listen,
    wrap: (words, { cwd, env: given }) => {
      const isOwn = isIn(writable, given['TMPDIR'] ?? '');
      const env = temporary === null || isOwn ? given : { ...given, TMPDIR: temporary };
      const installed = findInstalled(env['PATH']).map(
        (directory) => `${side?.upper}/changes${directory.slice(side?.home?.path.length)}`,
      );
      const path = env['PATH'] === undefined ? undefined : [env['PATH'], ...installed].join(':');
      checkProgram(words[0] ?? '', { cwd, path });
      const isLate = (name: string) => shellVariables.includes(name) || lateVariable.test(name);
      const late = Object.entries(env).filter(([name]) => isLate(name));
      const settings = [
        ...shellVariables.filter((name) => env[name] === undefined).flatMap((name) => ['-u', name]),
        ...late.map(([name, value]) => `${name}=${value}`),
      ];
      return {
        command: buildStart(tools, { namespaces, user, cwd, settings, words }),
        env: Object.fromEntries(Object.entries(env).filter(([name]) => !isLate(name))),
        descriptors: listDescriptors(namespaces),
      };
    },
  };
}
