import fs, { readFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { PassThrough } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { Script } from 'node:vm';
import { describeError } from '../../../src/base/errors.ts';
import { createTimedOutput, keepLastLines } from '../../../src/server/output-tail.ts';
import type { ProcessExit, ServerProcess } from '../../../src/server/process.ts';
import type { StartContext } from '../../../src/server/running-server.ts';

/** Thrown by `process.exit` of a program. */
class Exit extends Error {
  readonly code: number;
  constructor(code: number) {
    super(`The program ends with code ${code}`);
    this.code = code;
  }
}

/**
 * Starts a program of one file, such as `node server.mjs notes`, in this process: for tests that start it hundreds of times and judge only what it
 * writes. It has its own variables of modules, `process`, `console`, `Date` and working directory. It must import only named functions of
 * Node.js and must not block, since it shares the thread.
 */
export function startInProcess({ words, cwd, env, clock, tail }: StartContext): ServerProcess {
  const [file = '', path = ''] = words;
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const ownOutput = createTimedOutput(clock, 16 * 1024);
  let exit: ProcessExit | null = null;
  const { promise: exited, resolve } = Promise.withResolvers<ProcessExit>();
  const addOutput = (chunk: Buffer) => {
    tail.append(chunk);
    ownOutput.append(chunk);
  };
  const end = (code: number | null, signal: NodeJS.Signals | null = null) => {
    if (exit !== null) return;
    exit = { code, signal, lastLines: keepLastLines(ownOutput.readLines(50).map(({ text }) => text)) };
    stdin.destroy();
    stdout.end();
    // What it wrote is read first, as from a pipe.
    stdout.once('close', () => exit !== null && resolve(exit));
    if (stdout.readableFlowing !== true) stdout.destroy();
  };
  const write = (text: string) => exit === null && stdout.write(text);
  const own = {
    process: {
      argv: [file, ...words.slice(1)],
      env: { ...env },
      stdin,
      stdout: { write },
      cwd: () => cwd,
      exit: (code = 0) => {
        end(code);
        throw new Exit(code);
      },
    },
    console: { error: (...parts: unknown[]) => addOutput(Buffer.from(`${parts.join(' ')}\n`)) },
    Date: moveDate(env['NODE_OPTIONS']),
    load: (name: string) => loadModule(name, cwd),
    meta: { filename: path, url: pathToFileURL(path).href },
  };
  compileProgram(path)(own).then(
    () => end(0),
    (error: unknown) => {
      if (!(error instanceof Exit)) addOutput(Buffer.from(`${describeError(error)}\n`));
      end(error instanceof Exit ? error.code : 1);
    },
  );
  const stop = async () => {
    stdin.end();
    await exited;
  };
  return {
    pid: process.pid,
    stdin,
    stdout,
    addOutput,
    readOutput: () => ownOutput.readLines(Infinity),
    get hasEnded() {
      return exit !== null;
    },
    exited,
    stop,
    kill: async () => {
      end(null, 'SIGKILL');
      await exited;
    },
  };
}

type Program = (own: object) => Promise<void>;

const compiled = new Map<string, Program>();

/** Makes a function of a module: each call is a new instance of it. */
function compileProgram(path: string): Program {
  const text = readFileSync(path, 'utf8');
  const known = compiled.get(path + text);
  if (known !== undefined) return known;
  const body = text
    .replaceAll(/^import (\{[^}]*\}) from ('node:[^']*');$/gm, 'const $1 = load($2);')
    .replaceAll('import.meta', 'meta');
  // On the first line, so that the numbers of lines are those of the file.
  const script = new Script(`(async ({ process, console, Date, load, meta }) => { ${body}\n})`, {
    filename: pathToFileURL(path).href,
  });
  const program = script.runInThisContext() as Program;
  compiled.set(path + text, program);
  return program;
}

/** Loads a module of Node.js. Its functions of files take relative paths as those of the directory. */
function loadModule(name: string, cwd: string): unknown {
  if (name !== 'node:fs') return process.getBuiltinModule(name);
  const resolve = (path: unknown) => (typeof path === 'string' && !isAbsolute(path) ? join(cwd, path) : path);
  return new Proxy(fs, {
    get: (target, key) => {
      const member: unknown = Reflect.get(target, key);
      if (typeof member !== 'function') return member;
      return (path: unknown, ...rest: unknown[]): unknown => Reflect.apply(member, target, [resolve(path), ...rest]);
    },
  });
}

/** Moves the present time as the module does that a world preloads into Node.js. */
function moveDate(nodeOptions = ''): DateConstructor {
  const [, days] = /clock-([\d.-]+)\.cjs/.exec(nodeOptions) ?? [];
  if (days === undefined) return Date;
  const now = () => Date.now() + Number(days) * 86_400_000;
  return new Proxy(Date, {
    construct: (target, given: unknown[], of) => Reflect.construct(target, given.length > 0 ? given : [now()], of),
    get: (target, key): unknown => (key === 'now' ? now : Reflect.get(target, key)),
  });
}
