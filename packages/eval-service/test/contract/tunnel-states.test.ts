import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { openContractService, type ContractService } from '../../../../test/support/service/contract-service.ts';

interface Grant {
  serverId: string;
  slug: string;
  url: string;
  connectToken: string;
  relayWsUrl: string;
  secretVersion: number;
}

/** What a host with this token is answered: `hello`, or the code that closes its connection. */
async function dial({ connectToken, relayWsUrl }: Grant): Promise<string | number> {
  const headers = { authorization: `Bearer ${connectToken}` };
  const socket = new WebSocket(relayWsUrl, 'svc-tunnel.v1', { headers });
  socket.on('error', () => {});
  return await new Promise((resolve) => {
    socket.once('message', () => {
      resolve('hello');
      socket.terminate();
    });
    socket.once('close', (code) => resolve(code));
  });
}

/** The path and the secret of a grant, at the origin that the service has now. */
function moveTo({ baseUrl }: ContractService, grant: Grant): Grant {
  const { pathname, search } = new URL(grant.url);
  const relay = new URL(new URL(grant.relayWsUrl).pathname, baseUrl);
  relay.protocol = 'ws:';
  return { ...grant, url: new URL(pathname + search, baseUrl).href, relayWsUrl: relay.href };
}

describe('a tunnel grant', () => {
  let dataDir: string;
  let service: ContractService;
  const open = async () => {
    service = await openContractService({ dataDir });
  };
  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'tunnel-states-'));
    await open();
  });
  afterEach(async () => {
    await service[Symbol.asyncDispose]();
    await rm(dataDir, { recursive: true });
  });

  const grant = async (name = 'demo'): Promise<Grant> => (await service.project.post('/tunnels', { name })).body;
  const act = {
    grant: () => grant(),
    close: async ({ serverId }: Grant) => void (await service.project.post(`/tunnels/${serverId}/close`)),
    restart: async () => {
      await service[Symbol.asyncDispose]();
      await open();
    },
    delete: async ({ serverId }: Grant) => void (await service.project.delete(`/servers/${serverId}`)),
  };
  // 503: the secret is right, and no host is connected. 4002: a later grant took its place, or it was closed.
  const noHost = 503;
  const refused = 401;

  it.each([
    { actions: [], version: 2, url: noHost, host: 'hello' },
    { actions: ['grant'], version: 3, url: refused, host: 4002 },
    { actions: ['close'], version: 2, url: refused, host: 4002 },
    { actions: ['close', 'close'], version: 2, url: refused, host: 4002 },
    { actions: ['close', 'grant'], version: 3, url: refused, host: 4002 },
    { actions: ['restart'], version: 2, url: refused, host: 4000 },
    { actions: ['restart', 'restart'], version: 2, url: refused, host: 4000 },
    { actions: ['restart', 'grant'], version: 3, url: refused, host: 4000 },
    { actions: ['grant', 'restart', 'grant', 'restart'], version: 4, url: refused, host: 4000 },
    { actions: ['close', 'restart'], version: 2, url: refused, host: 4000 },
    { actions: ['restart', 'close', 'grant', 'restart'], version: 3, url: refused, host: 4000 },
    { actions: ['delete'], version: 1, url: refused, host: 4002 },
    { actions: ['delete', 'restart'], version: 1, url: refused, host: 4000 },
  ] as const)(
    'after $actions: URL $url, host $host, and the next one is $version',
    async ({ actions, ...expected }) => {
      const first = await grant();
      expect(first.secretVersion).toBe(1);
      for (const action of actions) await act[action](first);
      const before = moveTo(service, first);
      const { status } = await fetch(before.url);
      expect({ url: status, host: await dial(before) }).toEqual({ url: expected.url, host: expected.host });
      const next = await grant();
      expect(next.secretVersion).toBe(expected.version);
      expect([next.serverId === first.serverId, next.slug === first.slug]).toEqual(
        next.secretVersion === 1 ? [false, false] : [true, true],
      );
      expect((await fetch(next.url)).status).toBe(noHost);
      expect(await dial(next)).toBe('hello');
    },
  );

  it('counts the grants of each server for itself', async () => {
    await grant('one');
    await grant('one');
    await grant('two');
    await act.restart();
    expect([(await grant('one')).secretVersion, (await grant('two')).secretVersion]).toEqual([3, 2]);
  });
});
