import { randomInt } from 'node:crypto';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

import { SandboxError } from '../../src/base/errors.ts';
import { findTools } from '../../src/server/sandbox/tools.ts';
import { listProcesses } from '../../src/server/process-tree.ts';
import { canMake, decisive, listToolsOf, openSandboxLab } from '../support/process/sandbox-lab.ts';
import type { Maker } from '../support/process/sandbox-lab.ts';

const makers: Maker[] = ['bwrap', 'unshare'];
const available = new Map<Maker, boolean>();
for (const maker of makers) available.set(maker, await canMake(maker));

const sh = (script: string, ...args: string[]) => ['/bin/sh', '-c', script, 'sh', ...args];
const node = (script: string, ...args: string[]) => [process.execPath, '-e', script, ...args];

/** Writes to a file as a program would, and prints the error's code. */
const write = `try { require('node:fs').writeFileSync(process.argv[1], 'changed'); console.log('written'); } catch (error) { console.log(error.code); }`;

/** Starts a child that leaves its session, its parents and its environment, and sleeps for a time that names it. */
const daemonise = (seconds: number) =>
  `env -i setsid sh -c 'sleep ${seconds} >/dev/null 2>&1 </dev/null & exit' & wait; echo up`;
const isSleeping = (seconds: number) =>
  listProcesses().some(({ pid }) => {
    const file = `/proc/${pid}/cmdline`;
    return existsSync(file) && readFileSync(file, 'utf8') === `sleep\0${seconds}\0`;
  });

const ends: Array<[string, string[], { code: number | null; signal: string | null }]> = [
  ['exit code 0', sh('exit 0'), { code: 0, signal: null }],
  ['exit code 3', sh('exit 3'), { code: 3, signal: null }],
  ['exit code 137', sh('exit 137'), { code: 137, signal: null }],
  ['exit code 139', sh('exit 139'), { code: 139, signal: null }],
  ...['SEGV', 'KILL', 'TERM', 'ABRT', 'INT', 'HUP'].map((name): (typeof ends)[number] => [
    `SIG${name}`,
    sh(`kill -${name} $$`),
    { code: null, signal: `SIG${name}` },
  ]),
];

/** Makes the namespaces of a sandbox without its code. All tests below would be skipped if that code made none any more. */
const allowsNamespaces = () => {
  const user = process.getuid?.() === 0 ? [] : ['--user', '--map-root-user'];
  const mount = ['mount', '-t', 'proc', 'proc', '/proc'];
  return spawnSync('unshare', [...user, '--mount', '--pid', '--fork', ...mount]).status === 0;
};

it.runIf(!('missing' in findTools(process.env['PATH'])) && allowsNamespaces())(
  'a sandbox is made where the machine allows its namespaces',
  () => expect(available.get('unshare')).toBe(true),
);

describe.each(makers)('a sandbox that %s makes', (maker) => {
  const open = (options: Parameters<typeof openSandboxLab>[0] = {}) =>
    openSandboxLab(options, { tools: listToolsOf(maker) });
  const isMade = available.get(maker);

  it.runIf(isMade)('hides the gate and every process outside', async () => {
    await using lab = await open();
    expect(lab.opened.report).toEqual({ level: 'isolated', network: 'shared', why: `made with ${maker}` });
    const { stdout } = await lab.run(
      node(`const pids = require('node:fs').readdirSync('/proc').filter(Number);
        console.log(JSON.stringify({ pids, ppid: process.ppid, gate: require('node:fs').existsSync('/proc/${process.pid}/environ') }))`),
    );
    const seen: { pids: string[]; ppid: number; gate: boolean } = JSON.parse(stdout);
    expect(seen.gate).toBe(false);
    expect(seen.pids.length).toBeLessThan(10);
    // A parent of 1 or 0 would look like an orphan to a server that watches its parent.
    expect(seen.ppid).toBeGreaterThan(1);
  });

  it.runIf(isMade)('sends no signal to a process outside', async () => {
    await using lab = await open();
    const other = spawn('sleep', ['30'], { detached: true });
    await once(other, 'spawn');
    const tries = [String(process.pid), String(other.pid), `-${other.pid}`];
    const { stdout } = await lab.run(
      sh('for pid in "$@"; do kill -KILL -- "$pid" 2>/dev/null && echo hit; done; echo done', ...tries),
    );
    expect(stdout).toBe('done\n');
    expect(other.exitCode ?? other.signalCode).toBeNull();
    other.kill('SIGKILL');
    // The parent that it sees is a wrapper of its own.
    const parent = await lab.run(sh('kill -KILL $PPID; sleep 5'));
    expect(parent.signal).toBe('SIGKILL');
  });

  it.runIf(isMade).each(Object.entries(decisive))(
    'makes the %s read-only, and what lies next to it stays writable',
    async (_, file) => {
      await using lab = await open();
      expect(await lab.run(node(write, file))).toMatchObject({ stdout: 'EROFS\n', code: 0 });
      expect(await lab.workspace.read(file)).toBe('as it was');
      expect(await lab.run(sh('rm -f "$1" && mv "$1" "$1.old"', file))).not.toMatchObject({ code: 0 });
      expect(await lab.workspace.read(file)).toBe('as it was');
      expect(await lab.run(node(write, 'state/own'))).toMatchObject({ stdout: 'written\n' });
      expect(await lab.workspace.read('state/own')).toBe('changed');
      expect(await lab.run(node(write, 'beside'))).toMatchObject({ stdout: 'written\n' });
    },
  );

  it.runIf(isMade)(
    'lets no server undo a mount, rename what holds a protected file, or write to the code of the gate',
    async () => {
      await using lab = await open();
      const evals = join(lab.workspace.path, 'evals');
      const undo = `umount ${evals}/x.evals.yaml; mount -o remount,rw,bind ${evals}/x.evals.yaml; mv ${evals} ${evals}.old;
      unshare -Urm sh -c 'umount ${evals}/x.evals.yaml; mount -o remount,rw,bind ${evals}/x.evals.yaml; echo changed >${evals}/x.evals.yaml'
      nsenter -t 1 -m sh -c 'umount ${evals}/x.evals.yaml; echo changed >${evals}/x.evals.yaml'
      echo changed >/proc/1/root${evals}/x.evals.yaml; true`;
      await lab.run(sh(undo));
      expect(await lab.workspace.read(decisive.evals)).toBe('as it was');
      const code = join(import.meta.dirname, '../../src/server/not-there.ts');
      expect(await lab.run(node(write, code))).toMatchObject({ stdout: 'EROFS\n' });
    },
  );

  it.runIf(isMade).each(ends)('passes on an end by %s', async (_, words, end) => {
    await using lab = await open();
    expect(await lab.run(words)).toMatchObject(end);
  });

  it.runIf(isMade)('reports a missing program and a file that may not be executed as without a sandbox', async () => {
    await using lab = await open();
    expect((await lab.run(['no-such-program'])).error?.code).toBe('ENOENT');
    expect((await lab.run([join(lab.workspace.path, 'policy.yml')])).error?.code).toBe('EACCES');
  });

  it.runIf(isMade)('changes neither the environment, the directory, the user nor the descriptors', async () => {
    const look = node(`const fs = require('node:fs');
      const open = fs.readdirSync('/proc/self/fd').filter((fd) => { try { return /pipe|socket|ns/.test(fs.readlinkSync('/proc/self/fd/' + fd)); } catch { return false; } });
      console.log(JSON.stringify({ env: process.env, cwd: process.cwd(), uid: process.getuid(), gid: process.getgid(), stdio: open.slice(0, 3), group: process.pid }))`);
    const env = { SHLVL: '1', _: 'x', ODD: "a'b\n$c", LD_LIBRARY_PATH: '/nowhere' };
    const read = async (mode: 'auto' | 'off', given: Record<string, string>) => {
      await using lab = await open({ mode });
      const { stdout } = await lab.run(look, given);
      const seen: Record<string, unknown> = JSON.parse(stdout.replaceAll(lab.workspace.path, 'workspace'));
      return { ...seen, group: undefined };
    };
    expect(await read('auto', env)).toEqual(await read('off', env));
    expect(await read('auto', { SHLVL: '1' })).toEqual(await read('off', { SHLVL: '1' }));
  });

  it.runIf(isMade)('stops a server politely, and with it what it started', async () => {
    await using lab = await open();
    const polite = `setInterval(() => {}, 1000); process.on('SIGTERM', () => setTimeout(() => { require('node:fs').writeFileSync('state/bye', ''); process.exit(0); }, 100)); console.log('up')`;
    const server = lab.start(node(polite));
    await once(server.stdout, 'data');
    await server.stop();
    expect(await server.exited).toMatchObject({ code: 0 });
    expect(existsSync(join(lab.workspace.path, 'state/bye'))).toBe(true);
  });

  it.runIf(isMade)('ends daemons with the server', async () => {
    await using lab = await open();
    const seconds = randomInt(80_000, 1_000_000);
    const server = lab.start(sh(`${daemonise(seconds)}; read -r _`));
    await once(server.stdout, 'data');
    // The shell that becomes the program may not have become it yet.
    await expect.poll(() => isSleeping(seconds)).toBe(true);
    await server.stop();
    await expect.poll(() => isSleeping(seconds)).toBe(false);
  });

  it.runIf(isMade)('reaps orphans', async () => {
    await using lab = await open();
    const count = `for i in 1 2 3 4 5 6; do sh -c 'sh -c "exit 0" & exit' ; done; sleep 0.2; grep -l '^State:.Z' /proc/[0-9]*/status 2>/dev/null | wc -l`;
    expect((await lab.run(sh(count))).stdout.trim()).toBe('0');
  });

  const isRoot = process.getuid?.() === 0;
  it.runIf(isMade && !(isRoot && maker === 'bwrap'))('confines the writes of a required sandbox', async () => {
    await using outer = await openSandboxLab({ mode: 'off' });
    const own = join(outer.workspace.path, 'state');
    await using lab = await openSandboxLab({ mode: 'required', writable: [own] }, { tools: listToolsOf(maker) });
    expect(lab.opened.report).toEqual({ level: 'confined', network: 'shared', why: `made with ${maker}` });
    expect((await lab.run(node(write, 'state/own'))).stdout).toBe('EROFS\n');
    expect((await lab.run(node(write, '/tmp/own-of-a-server'))).stdout).toBe('EROFS\n');
    expect((await lab.run(node(write, join(own, 'own')))).stdout).toBe('written\n');
    expect((await lab.run(sh('mktemp && echo >/dev/null && echo fine'))).stdout).toMatch(/fine\n$/);
    expect((await lab.run(sh('mv "$1" "$1.old"', lab.workspace.path))).code).not.toBe(0);
  });

  it.runIf(isMade && isRoot)('keeps the settings of the machine from root, at each level', async () => {
    // The setting keeps its value where it can be written.
    const setting = '/proc/sys/kernel/hostname';
    const keep = `const { readFileSync, writeFileSync } = require('node:fs'); try { writeFileSync('${setting}', readFileSync('${setting}')); console.log('written'); } catch (error) { console.log(error.code); }`;
    for (const mode of maker === 'bwrap' ? (['auto'] as const) : (['auto', 'required'] as const)) {
      await using lab = await open({ mode });
      expect((await lab.run(node(keep))).stdout).toBe('EROFS\n');
    }
  });

  it.runIf(isMade)('cuts the network off, and leaves a loopback interface', async () => {
    await using lab = await open({ network: 'off' });
    const listener = createServer().listen(0, '127.0.0.1');
    await once(listener, 'listening');
    const address = listener.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const connect = node(
      `require('node:net').connect(Number(process.argv[1]), '127.0.0.1').on('connect', () => { console.log('connected'); process.exit(); }).on('error', (error) => console.log(error.code))`,
      String(port),
    );
    const own = node(
      `const net = require('node:net'); const s = net.createServer((c) => c.end()).listen(0, '127.0.0.1', () => net.connect(s.address().port, '127.0.0.1').on('connect', () => { console.log('own'); process.exit(); }))`,
    );
    expect((await lab.run(connect)).stdout).toBe('ECONNREFUSED\n');
    expect((await lab.run(own)).stdout).toBe('own\n');
    await using shared = await open();
    expect((await shared.run(connect)).stdout).toBe('connected\n');
    listener.close();
  });
});

describe.runIf(process.getuid?.() === 0 && available.get('unshare'))('a user without rights', () => {
  const runAsNobody = async (mode: string) => {
    const directory = await mkdtemp(join(tmpdir(), 'sandbox-nobody-'));
    const file = join(directory, 'decisive');
    await writeFile(file, 'as it was\n');
    await Promise.all([chmod(directory, 0o777), chmod(file, 0o666)]);
    const script = 'id -u; echo changed >decisive; echo own >own; kill -SEGV $$';
    const run = spawnSync(
      'setpriv',
      [
        '--reuid=65534',
        '--regid=65534',
        '--clear-groups',
        process.execPath,
        join(import.meta.dirname, '../support/process/sandboxed-run.ts'),
        mode,
        directory,
        file,
        ...sh(script),
      ],
      { encoding: 'utf8' },
    );
    const left = await readFile(file, 'utf8');
    const own = existsSync(join(directory, 'own'));
    await rm(directory, { recursive: true });
    const { report, signal, stdout } = JSON.parse(run.stdout);
    return { level: report.level, signal, stdout, left, own };
  };
  const same = { signal: 'SIGSEGV', stdout: '65534\n' };

  it('gets the same sandbox as root, and stays who they are', async () => {
    expect(await runAsNobody('auto')).toEqual({ ...same, level: 'isolated', left: 'as it was\n', own: true });
    expect(await runAsNobody('required')).toEqual({ ...same, level: 'confined', left: 'as it was\n', own: false });
  });

  it('runs without a sandbox with `off`', async () => {
    expect(await runAsNobody('off')).toEqual({ ...same, level: 'none', left: 'changed\n', own: true });
  });
});

describe('no sandbox', () => {
  it('with `off` leaves other processes visible and decisive files writable', async () => {
    await using lab = await openSandboxLab({ mode: 'off' });
    expect(lab.opened.report).toEqual({ level: 'none', network: 'shared', why: '`sandbox` is `off`' });
    for (const file of Object.values(decisive)) {
      expect((await lab.run(node(write, file))).stdout).toBe('written\n');
      expect(await lab.workspace.read(file)).toBe('changed');
    }
    const isSeen = `console.log(require('node:fs').existsSync('/proc/${process.pid}/environ'))`;
    if (process.platform === 'linux') expect((await lab.run(node(isSeen))).stdout).toBe('true\n');
  });

  it.each(ends)('passes on an end by %s', async (_, words, end) => {
    await using lab = await openSandboxLab({ mode: 'off' });
    expect(await lab.run(words)).toMatchObject(end);
  });

  it('is reported where PATH has no tool for one, and refused where one is required', async () => {
    const none = { tools: [] };
    await using lab = await openSandboxLab({}, none);
    expect(lab.opened.sandbox).toBeNull();
    expect(lab.opened.report.level).toBe('none');
    if (process.platform === 'linux') expect(lab.opened.report.why).toMatch(/^a sandbox needs nsenter, unshare, /);
    await expect(openSandboxLab({ mode: 'required' }, none)).rejects.toThrow(SandboxError);
    await expect(openSandboxLab({ network: 'off' }, none)).rejects.toThrow('`sandbox-network: off` cannot be met');
  });
});
