import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EngineName } from '../../../src/server/container-engine.ts';

/** Shell commands by the first argument that they answer. Other calls succeed without output. */
type Answers = Readonly<Record<string, string>>;

/** A directory of executables that replace container engines. They record their calls and behave as the test specifies. */
export interface StandInEngine extends AsyncDisposable {
  directory: string;
  /** An environment without other commands. */
  environment: Record<string, string>;
  /** Writes the executable of an engine again. */
  install(name: EngineName, answers?: Answers): Promise<void>;
  /** The arguments of every call, oldest first. The directory of a build is replaced by `<context>`. */
  listCalls(): string[][];
  /** The content of a file that a call wrote; null if there is none. */
  read(file: string): string | null;
  forget(file: string): Promise<void>;
}

/** Creates the directory, without any engine. */
export async function openStandInEngine(): Promise<StandInEngine> {
  const directory = await mkdtemp(join(tmpdir(), 'stand-in-engine-'));
  const read = (file: string) => {
    const path = join(directory, file);
    return existsSync(path) ? readFileSync(path, 'utf8') : null;
  };
  return {
    directory,
    environment: { PATH: directory },
    install: async (name, answers = {}) => {
      const branches = Object.entries(answers).map(([command, script]) => `${command}) ${script} ;;`);
      const script = [
        '#!/bin/sh',
        `cd '${directory}' || exit 70`,
        `printf '%s\\n' "<call>" ${name} "$@" >>calls`,
        `case "$1" in`,
        ...branches,
        '*) : ;;',
        'esac',
      ];
      const path = join(directory, name);
      await writeFile(path, `${script.join('\n')}\n`);
      await chmod(path, 0o755);
    },
    listCalls: () =>
      (read('calls') ?? '')
        .split('<call>\n')
        .slice(1)
        .map((call) =>
          call
            .trimEnd()
            .replaceAll(/\S*mcp-eval-ci-image-\w+/g, '<context>')
            .split('\n'),
        ),
    read,
    forget: async (file) => await rm(join(directory, file), { force: true }),
    [Symbol.asyncDispose]: async () => await rm(directory, { recursive: true, force: true }),
  };
}
