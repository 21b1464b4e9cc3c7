import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../../src/base/time.ts';
import type { EmbeddedOptions } from '../../src/open-service.ts';
import { openContainerEngines } from '../../../../src/server/container-engine.ts';
import { createHurriedClock } from '../../../../test/support/clocks/bent-clock.ts';
import { isRunning } from '../../../../test/support/process/processes.ts';
import { ways, type Send } from '../../../../test/support/service/answers.ts';
import { holdKey } from '../../../../test/support/service/callers.ts';
import { type ContractService, openContractService } from '../../../../test/support/service/contract-service.ts';
import { openStandInEngine, type StandInEngine } from '../../../../test/support/service/stand-in-engine.ts';

/** An engine that does not answer within 4 s is none, and on a busy machine the stand-ins need longer. */
const patientClock = createHurriedClock({ fromMs: 3999, toMs: 10_001, instead: 120_000 });

const keys = [holdKey('owner', 'org_one', 'admin'), holdKey('member', 'org_one', 'member')];
const owner = { key: 'sk_owner' };
const digest = `sha256:${'a'.repeat(64)}`;
const blueprint = `FROM debian@${digest}\nRUN true\n`;
const hangs = 'echo $$ >pid; exec /bin/sleep 600';

describe('builds of sandbox images', () => {
  let standIn: StandInEngine;
  beforeEach(async () => {
    standIn = await openStandInEngine();
  });
  afterEach(async () => await standIn[Symbol.asyncDispose]());

  /** A service that finds the stand-ins and no other engine. */
  const openService = async (options: Partial<EmbeddedOptions> = {}): Promise<ContractService> => {
    const containers = openContainerEngines({ clock: patientClock, environment: standIn.environment });
    const service = await openContractService({
      keys,
      containers,
      ...options,
    });
    const dispose = async () => {
      await service[Symbol.asyncDispose]();
      await containers[Symbol.asyncDispose]();
    };
    return { ...service, [Symbol.asyncDispose]: dispose };
  };
  const createImage = async (send: Send) => {
    const { body } = await send('createSandboxImage', { name: 'Tools', blueprint }, owner);
    return String(body.id);
  };
  const listBuilds = async (send: Send, imageId: string) => {
    const { body } = await send('listSandboxImageBuilds', { imageId }, owner);
    return [...body.items];
  };
  /** Builds an image, and gives the build once it has ended. */
  const build = async (send: Send, imageId: string) => {
    const { body } = await send('buildSandboxImage', { imageId }, owner);
    for (;;) {
      const made = (await listBuilds(send, imageId)).find(({ id }) => id === body.buildId);
      if (made.status !== 'queued' && made.status !== 'building') return made;
      await systemClock.sleep(10);
    }
  };
  const waitForFile = async (file: string) => {
    while ((standIn.read(file) ?? '') === '') await systemClock.sleep(10);
    return standIn.read(file) ?? '';
  };

  it.each(ways)('buildSandboxImage answers 202: it is queued, and builds ($way)', async ({ open }) => {
    await standIn.install('docker', { build: 'echo "step 1 of 1"' });
    await using service = await openService();
    const send = open(service);
    const imageId = await createImage(send);
    const { status, body } = await send('buildSandboxImage', { imageId }, owner);
    const buildId = expect.stringMatching(/^bld_/);
    expect({ status, body }).toEqual({ status: 202, body: { id: imageId, buildId, reused: false } });
    const made = await build(send, imageId);
    expect(made).toEqual({
      id: body.buildId,
      status: 'ready',
      provider: 'docker',
      baseImageDigests: [digest],
      logPreview: 'step 1 of 1',
      createdAt: expect.any(Number),
      startedAt: expect.any(Number),
      finishedAt: expect.any(Number),
    });
    expect((await send('getSandboxImage', { imageId }, owner)).body.currentBuild).toEqual(made);
  });

  it.each(ways)('buildSandboxImage answers 202: the build of the same blueprint ($way)', async ({ open }) => {
    await standIn.install('docker');
    await using service = await openService();
    const send = open(service);
    const imageId = await createImage(send);
    const { id } = await build(send, imageId);
    const again = await send('buildSandboxImage', { imageId }, owner);
    expect(again).toMatchObject({ status: 202, body: { buildId: id, reused: true } });
    await send('updateSandboxImage', { imageId, blueprint: 'FROM alpine' }, owner);
    const other = await send('buildSandboxImage', { imageId }, owner);
    expect(other).toMatchObject({ status: 202, body: { reused: false } });
    expect(other.body.buildId).not.toBe(id);
  });

  it('are made again where the engine has lost the image, or the build has failed', async () => {
    await standIn.install('docker', { build: 'exit 1' });
    await using service = await openService();
    const send = ways[0]!.open(service);
    const imageId = await createImage(send);
    const failed = await build(send, imageId);
    expect(failed).toMatchObject({ status: 'failed', error: '`docker build` exited with code 1.' });
    await standIn.install('docker', { image: 'exit 1' });
    const ready = await build(send, imageId);
    expect(ready.status).toBe('ready');
    expect((await build(send, imageId)).id).not.toBe(ready.id);
  });

  it.each(ways)(
    'listSandboxImageBuilds answers 200: newest first, with the end of the output ($way)',
    async ({ open }) => {
      await standIn.install('docker', { build: 'echo "no such package" >&2; exit 100' });
      await using service = await openService();
      const send = open(service);
      const imageId = await createImage(send);
      const first = await build(send, imageId);
      await standIn.install('docker');
      const second = await build(send, imageId);
      expect(first).toMatchObject({
        status: 'failed',
        logPreview: 'no such package',
        error: '`docker build` exited with code 100: no such package',
      });
      const { status, body } = await send('listSandboxImageBuilds', { imageId }, owner);
      expect({ status, body }).toEqual({ status: 200, body: { items: [second, first] } });
    },
  );

  it('run one after the other', async () => {
    await standIn.install('docker', { build: hangs });
    await using service = await openService();
    const send = ways[1]!.open(service);
    const [one, two] = [await createImage(send), await createImage(send)];
    await send('buildSandboxImage', { imageId: one }, owner);
    await send('buildSandboxImage', { imageId: two }, owner);
    await waitForFile('pid');
    expect((await listBuilds(send, one))[0].status).toBe('building');
    expect((await listBuilds(send, two))[0].status).toBe('queued');
    // The deletion ends the first, and the second begins.
    await standIn.install('docker');
    await send('deleteSandboxImage', { imageId: one }, owner);
    expect((await build(send, two)).status).toBe('ready');
  });

  it('end with the service, and have failed in its store', async () => {
    await standIn.install('docker', { build: hangs });
    const dataDir = await mkdtemp(join(tmpdir(), 'images-'));
    try {
      const first = await openService({ dataDir });
      const send = ways[1]!.open(first);
      const imageId = await createImage(send);
      await send('buildSandboxImage', { imageId }, owner);
      const pid = Number(await waitForFile('pid'));
      expect(isRunning(pid)).toBe(true);
      await first[Symbol.asyncDispose]();
      expect(isRunning(pid)).toBe(false);
      await using second = await openService({ dataDir });
      const [made] = await listBuilds(ways[1]!.open(second), imageId);
      expect(made).toMatchObject({ status: 'failed', error: 'The service stopped while the image was building.' });
    } finally {
      await rm(dataDir, { recursive: true });
    }
  });

  it.each([
    ['no command of an engine', undefined, 'There is no command `docker`. There is no command `podman`.'],
    ['a daemon that is gone', 'echo "Is the daemon running?" >&2; exit 1', 'Is the daemon running?'],
  ])('name what is missing: %s', async (_what, version, reason) => {
    if (version !== undefined) await standIn.install('docker', { version });
    await using service = await openService();
    const send = ways[1]!.open(service);
    const imageId = await createImage(send);
    const { status, body } = await send('buildSandboxImage', { imageId }, owner);
    expect({ status, code: body.code }).toEqual({ status: 422, code: 'FEATURE_NOT_SUPPORTED' });
    expect(body.message).toContain(reason);
    expect((await send('resetComputer', {}, owner)).body.message).toContain(reason);
    expect((await send('useSandboxImage', { imageId }, owner)).body.message).toContain(reason);
  });

  it.each(ways)('useSandboxImage answers 200: the computer of the caller runs ($way)', async ({ open }) => {
    await standIn.install('docker');
    await using service = await openService();
    const send = open(service);
    const imageId = await createImage(send);
    const { id: buildId } = await build(send, imageId);
    const { status, body } = await send('useSandboxImage', { imageId }, owner);
    const computerId = expect.stringMatching(/^cmp_/);
    expect({ status, body }).toEqual({ status: 200, body: { imageId, computerId, status: 'running' } });
    expect(standIn.listCalls().at(-1)).toEqual(
      expect.arrayContaining(['run', `mcp-eval-ci-${body.computerId}`, `localhost/mcp-eval-ci-sandbox:${buildId}`]),
    );
    await send('useSandboxImage', { imageId }, owner);
    expect(standIn.listCalls()).toContainEqual(['docker', 'rm', '--force', `mcp-eval-ci-${body.computerId}`]);
  });

  it('leave no computer behind when the service ends', async () => {
    await standIn.install('docker');
    const service = await openService();
    const send = ways[1]!.open(service);
    const imageId = await createImage(send);
    await build(send, imageId);
    const { body } = await send('useSandboxImage', { imageId }, owner);
    await service[Symbol.asyncDispose]();
    expect(standIn.listCalls().at(-1)).toEqual(['docker', 'rm', '--force', `mcp-eval-ci-${body.computerId}`]);
  });

  it.each(ways)('useSandboxImage answers 409: no build is ready ($way)', async ({ open }) => {
    await standIn.install('docker', { build: 'exit 1' });
    await using service = await openService();
    const send = open(service);
    const imageId = await createImage(send);
    await build(send, imageId);
    const { status, code } = await send('useSandboxImage', { imageId }, owner);
    expect({ status, code }).toEqual({ status: 409, code: 'CONFLICT' });
  });

  it.each(ways)('useSandboxImage answers 409: a build by another engine ($way)', async ({ open }) => {
    await standIn.install('podman');
    await using service = await openService();
    const send = open(service);
    const imageId = await createImage(send);
    expect((await build(send, imageId)).provider).toBe('podman');
    await standIn.install('docker');
    const { status, code } = await send('useSandboxImage', { imageId }, owner);
    expect({ status, code }).toEqual({ status: 409, code: 'CONFLICT' });
    expect((await build(send, imageId)).provider).toBe('docker');
    expect((await send('useSandboxImage', { imageId }, owner)).status).toBe(200);
  });

  it.each(ways)('useSandboxImage answers 502: the computer does not start ($way)', async ({ open }) => {
    await standIn.install('docker', { run: 'echo "no space left" >&2; exit 125' });
    await using service = await openService();
    const send = open(service);
    const imageId = await createImage(send);
    await build(send, imageId);
    const { status, code } = await send('useSandboxImage', { imageId }, owner);
    expect({ status, code }).toEqual({ status: 502, code: 'SERVER_UNREACHABLE' });
    // A start that fails may still leave a container.
    expect(standIn.listCalls().at(-1)?.slice(0, 3)).toEqual(['docker', 'rm', '--force']);
    expect((await send('resetComputer', {}, owner)).body.reset).toBe(false);
  });

  it.each(ways)('resetComputer answers 200: a fresh computer from the same build ($way)', async ({ open }) => {
    await standIn.install('docker');
    await using service = await openService();
    const send = open(service);
    const { projectId } = service;
    expect(await send('resetComputer', {}, owner)).toMatchObject({ status: 200, body: { projectId, reset: false } });
    const imageId = await createImage(send);
    await build(send, imageId);
    const { body } = await send('useSandboxImage', { imageId }, owner);
    expect(await send('resetComputer', {}, owner)).toMatchObject({ status: 200, body: { projectId, reset: true } });
    expect(standIn.listCalls()).toContainEqual(['docker', 'rm', '--force', `mcp-eval-ci-${body.computerId}`]);
    expect(standIn.listCalls().filter((call) => call[1] === 'run')).toHaveLength(2);
    // The computer is the caller's alone.
    expect((await send('resetComputer', {}, { key: 'sk_member' })).body.reset).toBe(false);
    await send('deleteSandboxImage', { imageId }, owner);
    expect((await send('resetComputer', {}, owner)).body.reset).toBe(false);
  });

  it.each(ways)('resetComputer answers 502: the computer does not start again ($way)', async ({ open }) => {
    await standIn.install('docker');
    await using service = await openService();
    const send = open(service);
    const imageId = await createImage(send);
    await build(send, imageId);
    await send('useSandboxImage', { imageId }, owner);
    await standIn.install('docker', { run: 'exit 125' });
    const { status, code } = await send('resetComputer', {}, owner);
    expect({ status, code }).toEqual({ status: 502, code: 'SERVER_UNREACHABLE' });
  });
});
