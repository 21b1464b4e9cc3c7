import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { TunnelError } from '../../src/base/errors.ts';
import { startForwardProxy, type ForwardProxy, type ForwardProxyOptions } from '../support/network/forward-proxy.ts';
import { json, startHttpServer } from '../support/network/http-server.ts';
import { hasOpenssl } from '../support/network/https-server.ts';
import { startScriptedRelay } from '../support/network/scripted-relay.ts';
import { catchError } from '../support/service/service-client.ts';
import { startTlsFront } from '../support/network/tls-front.ts';
import { createLineLogger, openTestHost, scope } from '../support/network/tunnel-host.ts';

const target = 'http://127.0.0.1:9/mcp';
const authorities = getCACertificates('default');
const stack: AsyncDisposable[] = [];
afterEach(async () => {
  setDefaultCACertificates(authorities);
  vi.unstubAllEnvs();
  for (const resource of stack.splice(0).toReversed()) await resource[Symbol.asyncDispose]();
});

function keep<T extends AsyncDisposable>(resource: T): T {
  stack.push(resource);
  return resource;
}

/** A relay that is known as `relay.example`, and on this machine as `localhost`. */
async function startSecureRelay(hostname = 'relay.example') {
  const relay = keep(await startScriptedRelay());
  const front = keep(await startTlsFront(hostname, Number(new URL(relay.relayWsUrl).port)));
  const { connectToken } = relay;
  const there = { relayWsUrl: 'wss://relay.example/agent', connectToken };
  const here = { relayWsUrl: `wss://localhost:${front.port}/agent`, connectToken };
  const peer = (count: number) => relay.peer(count);
  return { there, here, front, peer, trust: () => setDefaultCACertificates([...authorities, front.certificate]) };
}

const startProxy = async (port: number, options: ForwardProxyOptions = {}): Promise<ForwardProxy> =>
  keep(await startForwardProxy({ routes: { 'relay.example:443': port }, ...options }));
const through = (proxy: ForwardProxy, { credentials = '', noProxy = null as string | null } = {}) => ({
  proxy: { httpProxy: null, httpsProxy: `http://${credentials}${proxy.place}`, noProxy },
});

describe.skipIf(!hasOpenssl)('a relay over TLS', () => {
  it('is reached directly, and carries requests', async () => {
    const { here, peer, trust } = await startSecureRelay('localhost');
    trust();
    const server = keep(await startHttpServer(json(200, { ok: true })));
    keep(await openTestHost(here, server.origin));
    const relay = await peer(1);
    relay.request(1, scope);
    await relay.waitFor('res_end', 1);
    expect(relay.read(1).toString()).toBe('{"ok":true}');
  });

  it('is reached through a proxy, which sees its host and nothing else', async () => {
    const { there, front, peer, trust } = await startSecureRelay();
    trust();
    const proxy = await startProxy(front.port, { credentials: 'user:pass-canary' });
    const { logger, lines } = createLineLogger();
    const server = keep(await startHttpServer(json(200, { ok: true })));
    keep(await openTestHost(there, server.origin, { logger, ...through(proxy, { credentials: 'user:pass-canary@' }) }));
    const relay = await peer(1);
    relay.request(1, scope);
    await relay.waitFor('res_end', 1);
    expect(relay.read(1).toString()).toBe('{"ok":true}');
    expect(proxy.asked).toEqual(['CONNECT relay.example:443']);
    expect(lines.filter((line) => line.includes('canary'))).toEqual([]);
  });

  it.each([
    ['directly', false],
    ['through a proxy', true],
  ])('is refused at once %s when its certificate is untrusted', async (_how, hasProxy) => {
    const { here, there, front } = await startSecureRelay(hasProxy ? 'relay.example' : 'localhost');
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    const proxy = await startProxy(front.port);
    const error = await catchError(hasProxy ? openTestHost(there, target, through(proxy)) : openTestHost(here, target));
    expect(error).toBeInstanceOf(TunnelError);
    expect(error).toMatchObject({
      message: "The relay's certificate cannot be trusted.",
      hint: expect.stringContaining('NODE_EXTRA_CA_CERTS') as string,
    });
    expect([front.dialled, proxy.asked.length]).toEqual([1, hasProxy ? 1 : 0]);
  });

  it('is refused at once when its certificate is for another host', async () => {
    const { there, front, trust } = await startSecureRelay('elsewhere.example');
    trust();
    const error = await catchError(openTestHost(there, target, through(await startProxy(front.port))));
    expect([error.message, front.dialled]).toEqual(["The relay's certificate cannot be trusted.", 1]);
  });

  it.each(['localhost', '*'])('is reached directly where NO_PROXY is %j', async (noProxy) => {
    const { here, front, trust, peer } = await startSecureRelay('localhost');
    trust();
    const proxy = await startProxy(front.port);
    keep(await openTestHost(here, target, through(proxy, { noProxy })));
    await peer(1);
    expect(proxy.asked).toEqual([]);
  });

  it('on this machine is reached directly when the proxy is elsewhere', async () => {
    const { here, trust, peer } = await startSecureRelay('localhost');
    trust();
    const proxy = { httpProxy: null, httpsProxy: 'http://proxy.example:3128', noProxy: null };
    const host = keep(await openTestHost(here, target, { proxy }));
    await peer(1);
    expect(host.isConnected).toBe(true);
  });
});

describe('a proxy that refuses the tunnel', () => {
  it.each([
    [407, 'The proxy on the way to the relay wants other credentials (status 407).'],
    [403, 'The proxy on the way to the relay refused to connect to it (status 403).'],
  ])('with %i ends the opening at once', async (refusal, message) => {
    await using proxy = await startForwardProxy({ refusal });
    const relay = {
      relayWsUrl: 'wss://relay.example/agent',
      connectToken: keep(await startScriptedRelay()).connectToken,
    };
    const error = await catchError(openTestHost(relay, target, through(proxy, { credentials: 'user:canary@' })));
    expect(error).toBeInstanceOf(TunnelError);
    expect(error).toMatchObject({ message, hint: expect.any(String) as string });
    expect(`${error.message} ${String(error.cause)}`).not.toContain('canary');
    expect(proxy.asked).toEqual(['CONNECT relay.example:443']);
  });
});
