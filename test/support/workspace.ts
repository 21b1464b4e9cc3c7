import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { everythingHttpServerPath, everythingServerPath } from './servers/bundled-servers.ts';

/** A separate directory with some files, like a user's checkout. Disposing removes it. */
export interface Workspace extends AsyncDisposable {
  path: string;
  read(file: string): Promise<string>;
  /** Writes a file into an existing directory. */
  write(file: string, text: string): Promise<void>;
}

export async function createWorkspace(files: Readonly<Record<string, string>> = {}): Promise<Workspace> {
  const path = await mkdtemp(join(tmpdir(), 'mcp-eval-ci-'));
  for (const [file, text] of Object.entries(files)) {
    await mkdir(dirname(join(path, file)), { recursive: true });
    await writeFile(join(path, file), text);
  }
  return {
    path,
    read: (file) => readFile(join(path, file), 'utf8'),
    write: (file, text) => writeFile(join(path, file), text),
    // A recorder of a session may still write when its test ends.
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true, maxRetries: 10 }),
  };
}

const packages = fileURLToPath(new URL('../../node_modules', import.meta.url));
const node = `env NODE_COMPILE_CACHE=${packages}/.cache/node node`;

/** The path of adding-server.mjs, which needs no packages and no compile cache. */
export const addingServerPath = fileURLToPath(new URL('servers/adding-server.mjs', import.meta.url));

/** Inputs of jobs that do not examine their server's process: one process for all iterations, without a sandbox. */
export const plainServer = { isolation: 'run', sandbox: 'off' };

/** Starts server-everything over stdio from any working directory. */
export const everythingOverStdio = `${node} ${everythingServerPath}`;

/** The same server over HTTP, on the port of `PORT`. */
export const everythingOverHttp = `${node} ${everythingHttpServerPath}`;

/** Three cases on server-everything that pass. */
export const greenEvals = `suite: Everything
cases:
  - id: echo
    title: Echoes a message
    steps:
      - toolCall: echo
        arguments: { message: hello }
      - assert: { toolResultContains: "Echo: hello" }
  - id: sum
    title: Adds two numbers
    required: true
    runs: 2
    steps:
      - toolCall: get-sum
        arguments: { a: 2, b: 3 }
      - assert: { toolResultContains: "5" }
  - id: refusal
    title: Refuses letters
    steps:
      - toolCall: get-sum
        arguments: { a: two, b: 3 }
      - assert: { toolResultIsError: true }
`;

/** The same cases, but the one on line 4 fails. */
export const redEvals = greenEvals.replace('Echo: hello', 'Echo: goodbye');
