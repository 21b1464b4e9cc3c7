import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/time.ts';
import { type ContainerEngine, openContainerEngines } from '../../src/server/container-engine.ts';
import { createJumpingClock } from '../support/clocks/bent-clock.ts';
import { isRunning } from '../support/process/processes.ts';
import { openStandInEngine, type StandInEngine } from '../support/service/stand-in-engine.ts';

const hangs = 'echo $$ >pid; exec /bin/sleep 600';
const refuses = 'echo "Cannot connect to the daemon." >&2; exit 1';

describe('container engines', () => {
  let standIn: StandInEngine;
  beforeEach(async () => {
    standIn = await openStandInEngine();
  });
  afterEach(async () => await standIn[Symbol.asyncDispose]());

  const open = (clock = systemClock, additions: Record<string, string> = {}) =>
    openContainerEngines({ clock, environment: { ...standIn.environment, ...additions } });
  const requireEngine = async (engines: ReturnType<typeof open>): Promise<ContainerEngine> => {
    const found = await engines.find();
    if (found.engine === null) throw new Error(found.problem);
    return found.engine;
  };

  it('are missing where there is no command of either', async () => {
    await using engines = open();
    const problem = 'There is no command `docker`. There is no command `podman`.';
    expect(await engines.find()).toEqual({ engine: null, problem });
  });

  it('are missing where the daemon refuses', async () => {
    await standIn.install('docker', { version: refuses });
    await using engines = open();
    const problem = '`docker version` exited with code 1: Cannot connect to the daemon. There is no command `podman`.';
    expect(await engines.find()).toEqual({ engine: null, problem });
  });

  it('are missing where the daemon does not answer within 4 s, and leave no process', async () => {
    await standIn.install('docker', { version: hangs });
    await using engines = open(createJumpingClock({ fromMs: 3999, toMs: 4001, instead: 500 }));
    const problem = '`docker version` did not end within 4 s. There is no command `podman`.';
    expect(await engines.find()).toEqual({ engine: null, problem });
    const pid = standIn.read('pid');
    if (pid !== null) expect(isRunning(Number(pid))).toBe(false);
  });

  it('are found by an answer: Docker first, else Podman', async () => {
    await standIn.install('podman', { info: 'echo 5.0.0' });
    await using engines = open();
    expect((await requireEngine(engines)).name).toBe('podman');
    await standIn.install('docker', { version: 'echo 28.0.0' });
    expect((await requireEngine(engines)).name).toBe('docker');
    await standIn.install('docker', { version: refuses });
    expect((await requireEngine(engines)).name).toBe('podman');
  });

  it('get exactly these arguments', async () => {
    const keep = 'for last; do :; done; /bin/cat "$last/Dockerfile" >built; /bin/ls -A "$last" >context';
    await standIn.install('docker', { build: keep });
    await using engines = open();
    const engine = await requireEngine(engines);
    const signal = new AbortController().signal;
    await engine.build({ tag: 'localhost/image:one', dockerfile: 'FROM debian\nRUN true\n' }, { signal });
    await engine.hasImage('localhost/image:one');
    await engine.start({ name: 'computer', tag: 'localhost/image:one' });
    await engine.removeContainer('computer');
    await engine.removeImage('localhost/image:one');
    const tag = 'localhost/image:one';
    const context = ['--file', '<context>/Dockerfile', '<context>'];
    const isolation = ['--security-opt', 'no-new-privileges', '--pids-limit', '1024'];
    const named = ['--name', 'computer', '--label', 'mcp-eval-ci.sandbox=computer'];
    const sleep = ['--entrypoint', 'sleep', tag, '2147483647'];
    expect(standIn.listCalls()).toEqual([
      ['docker', 'version', '--format', '{{.Server.Version}}'],
      ['docker', 'build', '--tag', tag, '--label', `mcp-eval-ci.sandbox=${tag}`, ...context],
      ['docker', 'image', 'inspect', '--format', '{{.Id}}', tag],
      ['docker', 'run', '--detach', ...isolation, ...named, '--pull=never', ...sleep],
      ['docker', 'rm', '--force', 'computer'],
      ['docker', 'image', 'rm', tag],
    ]);
    expect(standIn.read('built')).toBe('FROM debian\nRUN true\n');
    expect(standIn.read('context')).toBe('Dockerfile\n');
  });

  it('get the address of their daemon, and no key of the job', async () => {
    await standIn.install('docker', { version: '/usr/bin/env >env' });
    await using engines = open(systemClock, { DOCKER_HOST: 'unix:///run/other.sock', ANTHROPIC_API_KEY: 'canary' });
    await requireEngine(engines);
    expect(standIn.read('env')).toContain('DOCKER_HOST=unix:///run/other.sock\n');
    expect(standIn.read('env')).not.toContain('canary');
  });

  it('say how a build failed, with the end of its output', async () => {
    const build = String.raw`printf 'step 1\n\033[31mstep 2\033[0m\n'; echo 'no such package' >&2; exit 17`;
    await standIn.install('docker', { build });
    await using engines = open();
    const engine = await requireEngine(engines);
    const result = await engine.build({ tag: 't', dockerfile: 'FROM a' }, { signal: new AbortController().signal });
    expect(result.isDone).toBe(false);
    expect(result.problem).toMatch(/^`docker build` exited with code 17: /);
    expect(result.lines.toSorted()).toEqual(['no such package', 'step 1', 'step 2']);
  });

  it('end a build that takes longer than 15 min', async () => {
    await standIn.install('docker', { build: hangs });
    await using engines = open(createJumpingClock({ fromMs: 899_999, toMs: 900_001, instead: 500 }));
    const engine = await requireEngine(engines);
    const result = await engine.build({ tag: 't', dockerfile: 'FROM a' }, { signal: new AbortController().signal });
    expect(result).toMatchObject({ isDone: false, problem: '`docker build` did not end within 15 min.' });
  });

  it('end a build once the signal aborts, and once they are closed', async () => {
    await standIn.install('docker', { build: hangs });
    const engines = open();
    const engine = await requireEngine(engines);
    const start = async (signal: AbortSignal) => {
      await standIn.forget('pid');
      const build = engine.build({ tag: 't', dockerfile: 'FROM a' }, { signal }).catch((error: unknown) => error);
      while ((standIn.read('pid') ?? '') === '') await systemClock.sleep(10);
      return { build, pid: Number(standIn.read('pid')) };
    };
    const abort = new AbortController();
    const first = await start(abort.signal);
    expect(isRunning(first.pid)).toBe(true);
    abort.abort(new Error('Enough.'));
    expect(await first.build).toEqual(new Error('Enough.'));
    expect(isRunning(first.pid)).toBe(false);

    const second = await start(new AbortController().signal);
    expect(isRunning(second.pid)).toBe(true);
    await engines[Symbol.asyncDispose]();
    expect(await second.build).toEqual(new Error('The service stopped.'));
    expect(isRunning(second.pid)).toBe(false);
  });
});
