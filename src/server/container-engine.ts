import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { DeadlineError } from '../base/errors.ts';
import { type Clock, formatDuration, startTimeLimit } from '../base/time.ts';
import { buildChildEnvironment, markerVariable } from './environment.ts';
import { createOutputTail } from './output-tail.ts';
import { startProcess } from './process.ts';
import { startWatchdog, type Watchdog } from './watchdog.ts';

export type EngineName = 'docker' | 'podman';

/** The time limit of each command, in milliseconds. The engines are probed at the same time, so that a missing one is known within 5 s. */
const limitsMs = { probe: 4000, inspect: 10_000, start: 60_000, remove: 10_000, build: 15 * 60_000 };

/** Commands that check if an engine works: Docker's daemon has to answer, and Podman reports its setup. */
const probes: Readonly<Record<EngineName, readonly string[]>> = {
  docker: ['version', '--format', '{{.Server.Version}}'],
  podman: ['info', '--format', '{{.Version.Version}}'],
};

/** The variables with which clients find their engine and the settings of their user. Those files hold passwords for registries. */
const engineVariables =
  'DOCKER_HOST DOCKER_CONTEXT DOCKER_CONFIG DOCKER_CERT_PATH DOCKER_TLS DOCKER_TLS_VERIFY DOCKER_API_VERSION CONTAINER_HOST CONTAINER_CONNECTION CONTAINER_SSHKEY CONTAINERS_CONF REGISTRY_AUTH_FILE XDG_RUNTIME_DIR XDG_CONFIG_HOME XDG_DATA_HOME'.split(
    ' ',
  );

/** Labels every container and image that the gate creates, so that its owner can list and remove them. */
const label = 'mcp-eval-ci.sandbox';

/** The outcome of an engine's command. */
export interface EngineResult {
  isDone: boolean;
  /** The reason for a failure, as one sentence; null if it succeeded. */
  problem: string | null;
  /** The last lines of its output, oldest first, without control sequences. */
  lines: string[];
}

/** A container engine that works. Its commands reject only if a signal aborts. */
export interface ContainerEngine {
  readonly name: EngineName;
  /**
   * Builds an image from a Dockerfile alone, without files to copy.
   *
   * @throws the signal's reason once it aborts, after the command has ended
   */
  build(image: { tag: string; dockerfile: string }, options: { signal: AbortSignal }): Promise<EngineResult>;
  hasImage(tag: string): Promise<boolean>;
  /** Starts a container that only waits. */
  start(container: { name: string; tag: string }): Promise<EngineResult>;
  removeContainer(name: string): Promise<EngineResult>;
  removeImage(tag: string): Promise<EngineResult>;
}

/** The engines of this machine. Disposing it ends the commands that still run. */
export interface ContainerEngines extends AsyncDisposable {
  /** Finds an engine that works, Docker first. Probes again on each call, for at most 5 s. */
  find(): Promise<{ engine: ContainerEngine } | { engine: null; problem: string }>;
}

interface RunOptions {
  timeoutMs: number;
  signal?: AbortSignal;
}

type RunEngine = (args: readonly string[], options: RunOptions) => Promise<EngineResult>;

/**
 * Opens the container engines of this machine, by their commands on the PATH of `environment`. It starts nothing before the first call.
 * An engine gets only the variables that it needs, without keys.
 */
export function openContainerEngines({
  clock,
  environment,
}: {
  clock: Clock;
  environment: NodeJS.ProcessEnv;
}): ContainerEngines {
  const marker = randomUUID();
  const additions = engineVariables.flatMap((name) => {
    const value = environment[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const env = buildChildEnvironment(environment, { ...Object.fromEntries(additions), [markerVariable]: marker });
  const ending = new AbortController();
  const running = new Set<Promise<unknown>>();
  let watchdog: Watchdog | undefined;

  const createRun =
    (name: EngineName): RunEngine =>
    (args, options) => {
      watchdog ??= startWatchdog(marker, environment);
      const run = runEngine([name, ...args], { ...options, clock, env, watchdog, ending: ending.signal });
      running.add(run);
      return run.finally(() => running.delete(run));
    };
  const probe = async (name: EngineName) => {
    const run = createRun(name);
    const { isDone, problem } = await run(probes[name], { timeoutMs: limitsMs.probe });
    return isDone ? { engine: createEngine(name, run), problem: null } : { engine: null, problem: problem ?? '' };
  };
  return {
    find: async () => {
      const [docker, podman] = await Promise.all([probe('docker'), probe('podman')]);
      const engine = docker.engine ?? podman.engine;
      return engine === null ? { engine, problem: [docker.problem, podman.problem].join(' ') } : { engine };
    },
    [Symbol.asyncDispose]: async () => {
      ending.abort(new Error('The service stopped.'));
      await Promise.allSettled(running);
      await watchdog?.[Symbol.asyncDispose]();
    },
  };
}

function createEngine(name: EngineName, run: RunEngine): ContainerEngine {
  return {
    name,
    build: async ({ tag, dockerfile }, { signal }) => {
      // The directory holds only this file, so that no other file of this machine can get into the image.
      const directory = await mkdtemp(join(tmpdir(), 'mcp-eval-ci-image-'));
      try {
        const file = join(directory, 'Dockerfile');
        await writeFile(file, dockerfile, { mode: 0o600 });
        const args = ['build', '--tag', tag, '--label', `${label}=${tag}`, '--file', file, directory];
        return await run(args, { timeoutMs: limitsMs.build, signal });
      } finally {
        await rm(directory, { recursive: true, force: true });
      }
    },
    hasImage: async (tag) => {
      const args = ['image', 'inspect', '--format', '{{.Id}}', tag];
      return (await run(args, { timeoutMs: limitsMs.inspect })).isDone;
    },
    start: async (container) => {
      const isolation = ['--security-opt', 'no-new-privileges', '--pids-limit', '1024'];
      const named = ['--name', container.name, '--label', `${label}=${container.name}`];
      // Prevents a pull, since only images that were built here may start, and replaces the entry point of the image.
      const origin = ['--pull=never', '--entrypoint', 'sleep', container.tag, '2147483647'];
      return await run(['run', '--detach', ...isolation, ...named, ...origin], { timeoutMs: limitsMs.start });
    },
    removeContainer: async (container) => await run(['rm', '--force', container], { timeoutMs: limitsMs.remove }),
    removeImage: async (tag) => await run(['image', 'rm', tag], { timeoutMs: limitsMs.remove }),
  };
}

interface EngineStart extends RunOptions {
  clock: Clock;
  env: Record<string, string>;
  watchdog: Watchdog;
  ending: AbortSignal;
}

async function runEngine(command: readonly [EngineName, ...string[]], options: EngineStart): Promise<EngineResult> {
  const { clock, env, watchdog, timeoutMs, ending, signal } = options;
  const stopped = signal === undefined ? ending : AbortSignal.any([ending, signal]);
  stopped.throwIfAborted();
  const [name] = command;
  const what = `\`${command.slice(0, 2).join(' ')}\``;
  using limit = startTimeLimit(clock, { afterMs: timeoutMs, what, signal: stopped });
  const tail = createOutputTail();
  const child = startProcess(command, { cwd: tmpdir(), env, tail, clock, watchdog, readsStdin: false });
  child.stdin.end();
  child.stdout.on('data', (chunk: Buffer) => child.addOutput(chunk));
  const stop = () => void child.kill();
  limit.signal.addEventListener('abort', stop, { once: true });
  try {
    const { code, signal: endedBy, error, lastLines } = await child.exited;
    stopped.throwIfAborted();
    const lines = lastLines.map(stripVTControlCharacters);
    const fail = (problem: string): EngineResult => ({ isDone: false, problem, lines });
    if (limit.signal.reason instanceof DeadlineError) {
      return fail(`${what} did not end within ${formatDuration(timeoutMs)}.`);
    }
    if (error !== undefined) {
      return fail(
        error.code === 'ENOENT' ? `There is no command \`${name}\`.` : `${what} did not start: ${error.message}.`,
      );
    }
    if (code === 0) return { isDone: true, problem: null, lines };
    const end = code === null ? `was ended by ${endedBy}` : `exited with code ${code}`;
    const said = lines.findLast((line) => line.trim() !== '');
    return fail(said === undefined ? `${what} ${end}.` : `${what} ${end}: ${said.trim()}`);
  } finally {
    limit.signal.removeEventListener('abort', stop);
    await child.kill();
  }
}
