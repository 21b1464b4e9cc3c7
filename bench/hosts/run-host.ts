// Runs a host once with the scripted provider and the server.
import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isRecord, type JsonObject, tryParseJson } from '../../src/base/json.ts';
import { type Ran, runProgram } from '../gates/process.ts';
import type { HostAdapter } from './adapter.ts';
import type { SurfaceName } from './probe.ts';
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
  adapter: HostAdapter;
  installed: string;
  model: string;
  surface: SurfaceName;
  script: Script;
  /** Added to the environment of the host. */
  env?: Record<string, string>;
  limitMs: number;
}

const here = fileURLToPath(new URL('.', import.meta.url));

/** Null if this machine does not let a user make network namespaces. */
export const isolation: readonly string[] | null =
  process.platform === 'linux' && spawnSync('unshare', ['-rn', 'ip', 'link', 'set', 'lo', 'up']).status === 0
    ? ['unshare', '-rn', process.execPath, join(here, 'bridge.ts')]
    : null;

/** The whole environment of a host, with what its adapter adds. */
function createEnvironment(home: string): Record<string, string> {
  return {
    HOME: home,
    XDG_CONFIG_HOME: join(home, '.config'),
    PATH: [dirname(process.execPath), '/usr/bin', '/bin'].join(':'),
    TMPDIR: join(home, 'tmp'),
    TERM: 'dumb',
    LANG: 'C.UTF-8',
    TZ: 'UTC',
    CI: 'true',
  };
}

export async function runHost(request: RunRequest): Promise<Observation> {
  const { adapter, installed, model, surface, script, limitMs } = request;
  const root = await mkdtemp(join(tmpdir(), 'hosts-'));
  const home = join(root, 'home');
  const directory = join(root, 'project');
  const log = join(root, 'log.jsonl');
  const socket = join(root, 'provider.sock');
  try {
    await using provider = await openProvider(script, socket);
    for (const path of [join(home, 'tmp'), directory]) await mkdir(path, { recursive: true });
    await writeFile(log, '');
    const start = adapter.start({
      installed,
      home,
      directory,
      port: provider.port,
      model,
      server: { command: process.execPath, args: [join(here, 'probe-server.ts'), surface, log] },
      prompt: 'Use the tools of the probe server.',
    });
    for (const [path, text] of Object.entries(start.files)) {
      await mkdir(dirname(join(home, path)), { recursive: true });
      await writeFile(join(home, path), text);
    }
    const bridge = isolation === null ? [] : [...isolation, String(provider.port), socket];
    const variables = Object.entries({ ...createEnvironment(home), ...start.env, ...request.env });
    const clean = ['env', '-i', ...variables.map(([name, value]) => `${name}=${value}`)];
    const ran = await runProgram([...clean, ...bridge, ...start.argv], { cwd: directory, limitMs });
    return { exchanges: provider.exchanges, log: readLog(await readFile(log, 'utf8')), ran };
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
