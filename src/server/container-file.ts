import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { describeError } from '../base/errors.ts';
import { readTextFile } from '../base/files.ts';
import { startTimeLimit } from '../base/time.ts';
import { type ServerProcess, startProcess } from './process.ts';
import { runCommand } from './run-command.ts';
import type { StartContext } from './running-server.ts';

/** A command of an engine that starts a container and writes its id to a file. */
interface ContainerCommand {
  /** The program that can remove the container. */
  engine: string;
  words: readonly string[];
  /** The path of the file, as the command writes it. */
  path: string;
}

const flag = '--cidfile';

/**
 * Finds `docker run --cidfile PATH` or `podman run --cidfile PATH`, and adds a suffix to the path: an engine refuses an existing file,
 * and a stdio server is started several times. Null for any other command.
 */
export function findContainerFile(words: readonly string[], suffix: string): ContainerCommand | null {
  const [engine = ''] = words;
  const run = words.indexOf('run');
  if (!/^(?:docker|podman)(?:\.exe)?$/.test(basename(engine)) || run === -1) return null;
  const index = words.findIndex((word, at) => at > run && (word === flag || word.startsWith(`${flag}=`)));
  const word = words[index];
  if (word === undefined) return null;
  const isJoined = word !== flag;
  const own = isJoined ? word.slice(flag.length + 1) : words[index + 1];
  if (own === undefined || own === '') return null;
  const path = `${own}.${suffix}`;
  const replaced = isJoined ? [`${flag}=${path}`] : [flag, path];
  return { engine, path, words: words.toSpliced(index, replaced.length, ...replaced) };
}

/** Starts the server under test. If its command writes the id of a container to a file, the container ends with the process. */
export function startServerProcess(start: StartContext, { readsStdin }: { readsStdin: boolean }): ServerProcess {
  const container = findContainerFile(start.words, randomBytes(4).toString('hex'));
  if (container === null) return startProcess(start.words, { ...start, readsStdin });
  const server = startProcess(container.words, { ...start, readsStdin });
  let removing: Promise<void> | undefined;
  const remove = () => (removing ??= removeContainer(container, start));
  return {
    ...server,
    get hasEnded() {
      return server.hasEnded;
    },
    stop: async () => {
      await server.stop();
      await remove();
    },
    kill: async () => {
      await server.kill();
      await remove();
    },
  };
}

/** An id has 64 digits, but the server could have written the file. */
const maxIdBytes = 1024;

/** Fits into the remaining time of a cancelled job. */
const removalTimeoutMs = 4000;

/** Never rejects: it only warns about a container that remains. A container that has ended by itself is gone already. */
async function removeContainer({ engine, path }: ContainerCommand, start: StartContext): Promise<void> {
  const file = resolve(start.cwd, path);
  const id = (await readTextFile(file, { maxBytes: maxIdBytes }).catch(() => '')).trim();
  // The engine writes the file before the container starts, so without an id there is no container.
  if (!/^[0-9a-f]{12,64}$/.test(id)) return;
  const words = [engine, 'rm', '--force', '--volumes', id];
  using limit = startTimeLimit(start.clock, { afterMs: removalTimeoutMs, what: 'Its removal' });
  try {
    const { exitCode, stderr, startError } = await runCommand(words, start, { signal: limit.signal });
    if (exitCode === 0 || /no such container|already in progress/i.test(stderr)) {
      await rm(file, { force: true });
      return;
    }
    warn(startError ?? `${stderr} (exit code ${exitCode})`);
  } catch (error) {
    warn(describeError(error));
  }

  function warn(why: string): void {
    start.logger.warning(
      `The container ${id.slice(0, 12)} may still run: ${why}. Remove it with \`${words.join(' ')}\`.`,
    );
  }
}
