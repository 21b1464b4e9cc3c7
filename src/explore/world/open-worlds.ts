import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Disposer } from '../../base/disposal.ts';
import { SandboxError, ServerStartError } from '../../base/errors.ts';
import { silentLogger } from '../../base/logger.ts';
import { abilities } from '../../model/client-abilities.ts';
import { startServerProcess } from '../../server/container-file.ts';
import { listenFor } from '../../server/open-server.ts';
import { type PreparedStart, prepareStart } from '../../server/prepare-start.ts';
import type { ServerProcess } from '../../server/process.ts';
import type { OpenProxy, ServerContext, StartContext } from '../../server/running-server.ts';
import type { SandboxOptions } from '../../server/sandbox/open-sandbox.ts';
import { startInPlace } from '../../server/start-in-place.ts';
import { makeRootElsewhere, makeTemporaryRoot, removeTree } from '../../server/temporary-root.ts';
import type { Unexplored } from '../exploration.ts';
import { fillPlace, namePlace } from '../../workspace/place.ts';
import { emptyWorkspace, type Workspace } from '../../workspace/workspace.ts';
import { environmentCanary, fileCanary } from './canary.ts';
import { createClientAnswers } from './client-answers.ts';
import { connect, HandshakeError, type RequestLimits } from './connection.ts';
import type { WorldPaths } from './placeholders.ts';
import { moveClock } from './shift-clock.ts';
import { generatedWorkspace, generateFiles, listNeeded } from './generated-files.ts';
import { createWorld, type World, type WorldSource, type WorldVariant } from './world.ts';

/** How the server is started in each world. `{{workspace}}` in the command and the variables is its directory. */
export interface ServerStart {
  command: string;
  env: Readonly<Record<string, string>>;
  /** The directory in which the command of the user works, for programs that it names by relative paths. */
  cwd: string;
  readyTimeoutMs: number;
  workspace: Workspace;
  /** `off` starts it without a sandbox. */
  sandbox: 'auto' | 'off';
  /** True to change the settings of a hosted runner that forbid a sandbox. */
  isSandboxEnabled?: boolean;
  limits: RequestLimits;
  /** Absolute paths that decide a verdict and that the server must not change; none unless given. */
  protect?: readonly string[];
  /** Opens the way to the APIs of the server, for each process; without it, the server has no network at level `confined`. */
  openProxy?: OpenProxy;
  /** Creates the answers of the client in a world; by default those of a user who fills in each form. */
  createAnswers?: typeof createClientAnswers;
  /** Starts the server in a world; by default as a process. */
  startServer?: (start: StartContext) => ServerProcess;
}

const prefix = 'mcp-eval-ci-worlds-';

/**
 * Opens a source of worlds below the temporary directory of the machine, and some on another file system: at level `confined` with the
 * network off if the machine can do that, else at the best level that it can. Disposing it ends every process and removes every directory.
 * The next source removes those of a process that was killed.
 */
export async function openWorlds(start: ServerStart, context: ServerContext): Promise<WorldSource> {
  await using resources = new Disposer();
  const root = makeTemporaryRoot(prefix);
  resources.defer(() => removeTree(root));
  const elsewhere = makeRootElsewhere(prefix, root);
  if (elsewhere !== null) resources.defer(() => removeTree(elsewhere));
  const roots: [string, ...string[]] = [root, ...(elsewhere === null ? [] : [elsewhere])];
  const prepared = resources.use(await prepareInSandbox(start, roots, context));
  const { start: base, sandboxReport } = prepared;
  if (base === null) throw new Error('A world needs a command.');
  for (const each of roots) base.watchdog.addDirectory(each);
  let count = 0;
  let files: NonNullable<WorldSource['files']> = { workspace: start.workspace, added: [] };
  let missing: readonly Unexplored[] = [];
  const openOne = async (variant: WorldVariant) => {
    count += 1;
    const name = nameWorld(variant, count);
    const openIn = async (directory: string) =>
      await openWorld(
        { place: join(directory, name), compiled: join(root, 'compiled') },
        { variant, start: { ...start, workspace: files.workspace }, base, context },
      );
    if (variant.isElsewhere !== true || elsewhere === null) return await openIn(root);
    // It may be full, or not as a server needs it.
    return await openIn(elsewhere).catch(async () => await openIn(root));
  };
  let first: Promise<World | null> | null = null;
  const openFirst = async (variant: WorldVariant) => {
    const world = await openOne(variant);
    if (start.workspace !== generatedWorkspace) return world;
    const added = listNeeded((await world.list('tools/list', 'tools')) ?? []);
    if (added.length === 0) return world;
    await world[Symbol.asyncDispose]();
    ({ missing, ...files } = await generateFiles(added));
    return await openOne(variant);
  };
  const kept = resources.move();
  return {
    sandbox: sandboxReport?.level ?? 'none',
    isShared: false,
    isGivenWorkspace: [start.command, ...Object.values(start.env)].some((text) => text.includes('{{workspace}}')),
    get missing() {
      return missing;
    },
    get files() {
      return files;
    },
    open: async (variant) => {
      if (first === null) {
        const opened = openFirst(variant);
        first = opened.catch(() => null);
        return await opened;
      }
      // The first world decides on the files of all.
      await first;
      return await openOne(variant);
    },
    [Symbol.asyncDispose]: () => kept[Symbol.asyncDispose](),
  };
}

/** The number has a fixed width, so that paths of one variant have the same length. */
const nameWorld = ({ folder }: WorldVariant, count: number) => `${folder}${String(count).padStart(5, '0')}`;

/** Tries the strictest level first. The server may write to the roots. */
async function prepareInSandbox(
  start: ServerStart,
  roots: readonly [string, ...string[]],
  context: ServerContext,
): Promise<PreparedStart> {
  const [root] = roots;
  const side = { home: null, temporary: join(root, 'tmp'), upper: join(root, 'upper'), work: roots, copied: [] };
  for (const path of [side.temporary, side.upper]) await mkdir(path, { recursive: true });
  const shared = { writable: roots, protect: start.protect ?? [], make: { directories: [], files: [] }, side };
  const levels: SandboxOptions[] =
    start.sandbox === 'off'
      ? [{ ...shared, mode: 'off', network: 'on' }]
      : [
          { ...shared, mode: 'required', network: 'off', isEnabled: start.isSandboxEnabled === true },
          { ...shared, mode: 'auto', network: 'on' },
        ];
  const { command, cwd, readyTimeoutMs } = start;
  for (const [index, sandbox] of levels.entries()) {
    try {
      return await prepareStart({ command, cwd, env: { ...start.env }, readyTimeoutMs, sandbox }, context);
    } catch (error) {
      if (!(error instanceof SandboxError) || index === levels.length - 1) throw error;
    }
  }
  throw new Error('A start has at least one level.');
}

async function openWorld(
  { place, compiled }: { place: string; compiled: string },
  {
    variant,
    start,
    base,
    context,
  }: { variant: WorldVariant; start: ServerStart; base: StartContext; context: ServerContext },
): Promise<World> {
  const paths: WorldPaths = {
    ...namePlace(place),
    outside: join(place, 'outside'),
    worlds: dirname(place),
    compiled,
  };
  let proxy: AsyncDisposable | null = null;
  const dispose = async () => {
    await proxy?.[Symbol.asyncDispose]();
    await rm(place, { recursive: true, force: true, maxRetries: 3 });
  };
  try {
    await mkdir(paths.outside, { recursive: true });
    await writeFile(join(paths.outside, fileCanary.name), `${fileCanary.value}\n`);
    const files = variant.isForeign ? emptyWorkspace : start.workspace;
    await fillPlace(paths, files);
    const moved = await moveClock(variant.daysAhead, { directory: paths.worlds, options: base.env['NODE_OPTIONS'] });
    const opened = (await start.openProxy?.(await listenFor(base))) ?? null;
    proxy = opened;
    const env = { ...nameCompileCaches(compiled, base.env), ...opened?.variables, ...moved, ...nameCanary(variant) };
    // Warnings about containers repeat for each world.
    const inPlace = startInPlace({ ...base, env, logger: silentLogger }, paths);
    const { createAnswers = createClientAnswers, startServer = startStdioServer } = start;
    const server = startServer(inPlace);
    const answer = createAnswers(start.workspace, paths);
    const limits = { limits: start.limits, readyMs: start.readyTimeoutMs };
    const { clock, signal } = context;
    const connection = await connect(server, { clock, signal, ...limits, answer, offers: variant.offers ?? abilities });
    return await createWorld(connection, paths, { files, dispose });
  } catch (error) {
    await dispose();
    if (!(error instanceof HandshakeError)) throw error;
    throw new ServerStartError(`The server did not start in a copy of its workspace: ${error.message}.`, {
      stderrTail: base.tail.readLines(20),
      hint: 'Check `server-command` with `mcp-eval-ci doctor`. Name files of the workspace as `{{workspace}}/…`, and programs by absolute paths.',
    });
  }
}

const startStdioServer = (start: StartContext) => startServerProcess(start, { readsStdin: true });

function nameCanary({ timeZone }: WorldVariant): Record<string, string> {
  return { [environmentCanary.name]: environmentCanary.value, ...(timeZone !== null && { TZ: timeZone }) };
}

/**
 * All worlds share the compile caches of Node.js and Python, since an exploration starts the server dozens of times. Images for containers
 * often forbid Python to write its cache; with a prefix it then compiles each module in each process.
 */
function nameCompileCaches(path: string, env: Readonly<Record<string, string>>): Record<string, string> {
  return { NODE_COMPILE_CACHE: path, PYTHONPYCACHEPREFIX: path, ...env, PYTHONDONTWRITEBYTECODE: '' };
}
