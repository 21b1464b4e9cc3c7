// Runs a host once with the scripted provider and the server.
import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isRecord, type JsonObject, tryParseJson } from '../../src/base/json.ts';
import { type Ran, runProgram } from '../gates/process.ts';
import type { HostStarter } from '../../src/host-drivers/driver.ts';
import { serverName, type SurfaceName } from './probe.ts';
import { type Exchange, openProvider, type Script } from './provider.ts';

/** A message at the server's side. */
export interface Logged {
  time: number;
  direction: 'in' | 'out';
  message: unknown;
}

export interface Observation {
  exchanges: Exchange[];
  log: Logged[];
  ran: Ran;
}

export interface RunRequest {
  starter: HostStarter;
  /** The words that start the program of the host. */
  program: readonly string[];
  model: string;
  surface: SurfaceName;
  script: Script;
  /** Added to the environment of the host. */
  env?: Readonly<Record<string, string>>;
  limitMs: number;
}

/** No key of a real provider is ever in the environment of a host. */
const key = 'probe-key';

const here = fileURLToPath(new URL('.', import.meta.url));

/** Null if this machine does not let a user make network namespaces. */
export const isolation: readonly string[] | null =
  process.platform === 'linux' && spawnSync('unshare', ['-rn', 'ip', 'link', 'set', 'lo', 'up']).status === 0
    ? ['unshare', '-rn', process.execPath, join(here, 'bridge.ts')]
    : null;

/** The whole environment of a host, with what its starter adds. */
function createEnvironment(home: string): Record<string, string> {
  return {
    HOME: home,
    PATH: [dirname(process.execPath), '/usr/bin', '/bin'].join(':'),
    TMPDIR: join(home, 'tmp'),
    TERM: 'dumb',
    LANG: 'C.UTF-8',
    TZ: 'UTC',
    USER: 'probe',
  };
}

export async function runHost(request: RunRequest): Promise<Observation> {
  const { starter, program, model, surface, script, limitMs } = request;
  const root = await mkdtemp(join(tmpdir(), 'hosts-'));
  const home = join(root, 'home');
  const directory = join(root, 'project');
  const log = join(root, 'log.jsonl');
  const socket = join(root, 'provider.sock');
  try {
    await using provider = await openProvider(script, socket);
    for (const path of [join(home, 'tmp'), directory]) await mkdir(path, { recursive: true });
    await writeFile(log, '');
    const start = starter.start({
      home,
      directory,
      servers: [{ name: serverName, command: [process.execPath, join(here, 'probe-server.ts'), surface, log] }],
      provider: { url: `http://127.0.0.1:${provider.port}`, token: key },
      model,
      prompt: 'Use the tools of the probe server.',
      builtIns: 'on',
    });
    for (const [path, text] of start.files) {
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, text);
    }
    const bridge = isolation === null ? [] : [...isolation, String(provider.port), socket];
    const variables = Object.entries({ ...createEnvironment(home), ...start.env, ...request.env });
    const clean = ['env', '-i', ...variables.map(([name, value]) => `${name}=${value}`)];
    // Some hosts end with an error if a pipe is full, so that the output goes to files.
    const [stdout, stderr] = [join(root, 'stdout'), join(root, 'stderr')];
    const input = join(root, 'stdin');
    await writeFile(input, start.input ?? '');
    const shell = ['sh', '-c', 'exec >"$0" 2>"$1" <"$2"; shift 2; exec "$@"', stdout, stderr, input];
    const ran = await runProgram([...shell, ...clean, ...bridge, ...program, ...start.args], {
      cwd: directory,
      limitMs,
    });
    return {
      exchanges: provider.exchanges,
      log: readLog(await readFile(log, 'utf8')),
      ran: { ...ran, stdout: await readFile(stdout, 'utf8'), stderr: await readFile(stderr, 'utf8') },
    };
  } finally {
    await rm(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

function readLog(text: string): Logged[] {
  return text.split('\n').flatMap((line) => {
    const value = tryParseJson(line);
    return isRecord(value) ? [value as unknown as Logged] : [];
  });
}

/** Lists what a host asked the server for, with this method. */
export function listReceived({ log }: Observation, method: string): Array<Logged & { message: JsonObject }> {
  return log.flatMap((each) =>
    each.direction === 'in' && isRecord(each.message) && each.message['method'] === method
      ? [{ ...each, message: each.message }]
      : [],
  );
}
