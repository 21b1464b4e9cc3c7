import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/time.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { Secret } from '../../../src/base/redaction.ts';
import { serviceProfiles } from '../../../src/service/profile.ts';
import { clearRemoteResources } from '../../../src/gate/run/clear-remote.ts';
import {
  type RemoteResources,
  openCleanupJournal,
  parseRemoteResources,
} from '../../../src/gate/run/cleanup-journal.ts';
import {
  type ContractService,
  openContractService,
  saveServer,
  saveSuite,
} from '../../support/service/contract-service.ts';
import { startEverythingServer } from '../../support/servers/everything-server.ts';

const noProxy = { httpProxy: null, httpsProxy: null, noProxy: null };

const slowTest = {
  title: 'slow',
  runs: 1,
  steps: [
    {
      id: 's1',
      kind: 'toolCall',
      serverName: 'demo',
      toolName: 'trigger-long-running-operation',
      arguments: { duration: 60, steps: 2 },
    },
    { id: 's2', kind: 'assert', assertion: { type: 'noToolErrors' } },
  ],
};

async function clear(
  service: ContractService,
  leftovers: Pick<RemoteResources, 'servers' | 'runs'>,
): Promise<string[]> {
  const warnings: string[] = [];
  await clearRemoteResources(
    { projectId: service.projectId, ...leftovers },
    {
      profile: serviceProfiles.svc,
      baseUrl: service.baseUrl,
      apiKey: new Secret(service.apiKey),
      proxy: noProxy,
      clock: systemClock,
      logger: { ...silentLogger, warning: (message) => void warnings.push(message) },
    },
  );
  return warnings;
}

describe('openCleanupJournal', () => {
  it('has every change written down, and nothing once there is nothing left', () => {
    const saved: Array<RemoteResources | null> = [];
    const book = openCleanupJournal({ projectId: 'p' }, (leftovers) => saved.push(leftovers));
    const run = { suiteId: 's', runId: null, marker: 'm' };
    book.setRun(run);
    book.setRun({ ...run, runId: 'r' });
    book.removeRun('m');
    expect(saved.map((leftovers) => leftovers?.runs ?? null)).toEqual([[run], [{ ...run, runId: 'r' }], null]);
  });

  it('keeps several servers apart by their names', () => {
    const saved: Array<string[] | null> = [];
    const book = openCleanupJournal({ projectId: 'p' }, (next) => {
      saved.push(next?.servers.map(({ name, serverId }) => `${name}:${serverId}`) ?? null);
    });
    const server = { serverId: null, hasTunnel: true, isOwn: true, previous: null };
    book.setServer({ ...server, name: 'a' });
    book.setServer({ ...server, name: 'b' });
    book.setServer({ ...server, name: 'a', serverId: '1' });
    book.removeServer('b');
    book.removeServer('a');
    expect(saved).toEqual([['a:null'], ['a:null', 'b:null'], ['a:1', 'b:null'], ['a:1'], null]);
  });

  it('reads back what it wrote, and null from anything else', () => {
    const leftovers: RemoteResources = {
      projectId: 'p',
      servers: [{ name: 'n', serverId: null, hasTunnel: true, isOwn: true, previous: null }],
      runs: [{ suiteId: 's', runId: null, marker: 'm' }],
    };
    expect(parseRemoteResources(JSON.stringify(leftovers))).toEqual(leftovers);
    expect(['', '{', '{"profile":"embedded"}'].map(parseRemoteResources)).toEqual([null, null, null]);
  });
});

describe('clearRemoteResources', () => {
  it('finds a run and a tunnel whose ids were never received, and does no harm the second time', async () => {
    await using server = await startEverythingServer();
    await using service = await openContractService();
    const demo = await saveServer(service, { url: server.url });
    const { suiteId } = await saveSuite(service, demo, [slowTest]);
    const run = (await service.project.post('/eval-runs', { suiteId, notes: 'marker-1' })).body;
    const tunnel = (await service.project.post('/tunnels', { name: 'of this job' })).body;
    const leftovers = {
      servers: [{ name: 'of this job', serverId: null, hasTunnel: true, isOwn: true, previous: null }],
      runs: [{ suiteId, runId: null, marker: 'marker-1' }],
    };
    expect(await clear(service, leftovers)).toEqual([]);
    expect((await service.project.get(`/eval-runs/${run.runId}`)).body.status).toBe('cancelled');
    expect((await fetch(tunnel.url, { method: 'POST' })).status).toBe(401);
    expect((await service.project.get(`/servers/${tunnel.serverId}`)).status).toBe(404);
    const known = [{ suiteId, runId: String(run.runId), marker: 'marker-1' }];
    expect(await clear(service, { ...leftovers, runs: known })).toEqual([]);
  });

  it("restores a server record that is not the job's own", async () => {
    await using service = await openContractService();
    const serverId = await saveServer(service, { name: 'shared' });
    await service.project.post('/tunnels', { name: 'shared' });
    const previous = { url: 'http://127.0.0.1:9/mcp', transportType: 'http' };
    const warnings = await clear(service, {
      servers: [{ name: 'shared', serverId, hasTunnel: true, isOwn: false, previous }],
      runs: [],
    });
    expect(warnings).toEqual([]);
    expect((await service.project.get(`/servers/${serverId}`)).body).toMatchObject(previous);
  });

  it('warns where the service does not take the key any more', async () => {
    await using service = await openContractService();
    const server = { name: 'n', serverId: 'srv_1', hasTunnel: true, isOwn: true, previous: null };
    expect(await clear({ ...service, apiKey: 'sk_revoked' }, { servers: [server], runs: [] })).toEqual([
      expect.stringMatching(/^Could not close the tunnel of n: .*401/),
    ]);
  });
});
