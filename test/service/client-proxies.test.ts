import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { inspect } from 'node:util';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { describeError } from '../../src/base/errors.ts';
import { readProxySettings } from '../../src/http/proxy.ts';
import { startForwardProxy } from '../support/network/forward-proxy.ts';
import { findClosedPort, json, raw, startHttpServer } from '../support/network/http-server.ts';
import { hasOpenssl, startHttpsServer } from '../support/network/https-server.ts';
import { catchError, getMe, openTestClient, testApiKey } from '../support/service/service-client.ts';
import { startSilentServer } from '../support/servers/silent-server.ts';

const me = json(200, { id: 'u_1' });
const hosted = { origin: 'https://service.example' };
const password = 'pass:word#1';
const credentials = `robot:${password}`;
const withCredentials = (place: string) => `http://robot:${encodeURIComponent(password)}@${place}`;
const httpsProxy = (url: string, noProxy?: string) => readProxySettings({ https_proxy: url, no_proxy: noProxy });
const httpProxy = (url: string, noProxy?: string) => readProxySettings({ http_proxy: url, no_proxy: noProxy });

const authorities = getCACertificates('default');

/** What a certificate authority of an organization would be to the job. */
function trust(certificate: string): void {
  setDefaultCACertificates([...authorities, certificate]);
}

afterEach(() => {
  setDefaultCACertificates(authorities);
  vi.unstubAllEnvs();
});

describe.skipIf(!hasOpenssl)('a service over https', () => {
  it('is reached through a tunnel of the proxy, which sees its host and nothing else', async () => {
    await using server = await startHttpsServer('service.example', { id: 'u_1' });
    trust(server.certificate);
    await using proxy = await startForwardProxy({ routes: { 'service.example:443': server.port }, credentials });
    await using client = openTestClient(hosted, { proxy: httpsProxy(withCredentials(proxy.place)) });
    expect(await getMe(client)).toEqual({ id: 'u_1' });
    expect(proxy.asked).toEqual(['CONNECT service.example:443']);
    expect(server.requests).toEqual(['GET /api/v1/me']);
  });

  it('is not reached when the certificate behind the proxy is untrusted', async () => {
    await using server = await startHttpsServer('service.example', { id: 'u_1' });
    await using proxy = await startForwardProxy({ routes: { 'service.example:443': server.port } });
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    await using client = openTestClient(hosted, { proxy: httpsProxy(proxy.place) });
    const error = await catchError(getMe(client));
    expect(error).toMatchObject({ code: 'NETWORK', hint: expect.stringContaining('NODE_EXTRA_CA_CERTS') as string });
    expect(error.message).toContain(
      'No answer from service.example:443 to GET /api/v1/me: DEPTH_ZERO_SELF_SIGNED_CERT',
    );
    expect(server.requests).toEqual([]);
    expect(proxy.asked.length).toBe(1);
  });

  it('is not reached when the certificate behind the proxy is for another host', async () => {
    await using server = await startHttpsServer('elsewhere.example', { id: 'u_1' });
    trust(server.certificate);
    await using proxy = await startForwardProxy({ routes: { 'service.example:443': server.port } });
    await using client = openTestClient(hosted, { proxy: httpsProxy(proxy.place) });
    await expect(getMe(client)).rejects.toThrow(/ERR_TLS_CERT_ALTNAME_INVALID/);
    expect(server.requests).toEqual([]);
    expect(proxy.asked.length).toBe(1);
  });

  it.each(['localhost', 'other.example, localhost', '.localhost', '*'])(
    'is reached directly where NO_PROXY is %j',
    async (noProxy) => {
      await using server = await startHttpsServer('localhost', { id: 'u_1' });
      trust(server.certificate);
      await using proxy = await startForwardProxy();
      const here = { origin: `https://localhost:${server.port}` };
      await using client = openTestClient(here, { proxy: httpsProxy(proxy.place, noProxy) });
      expect(await getMe(client)).toEqual({ id: 'u_1' });
      expect(proxy.asked).toEqual([]);
    },
  );

  it.each(['other.example', 'localhost.example', 'localhost:1'])(
    'is reached through the proxy where NO_PROXY is %j',
    async (noProxy) => {
      await using server = await startHttpsServer('localhost', { id: 'u_1' });
      trust(server.certificate);
      await using proxy = await startForwardProxy();
      const here = { origin: `https://localhost:${server.port}` };
      await using client = openTestClient(here, { proxy: httpsProxy(proxy.place, noProxy) });
      expect(await getMe(client)).toEqual({ id: 'u_1' });
      expect(proxy.asked).toEqual([`CONNECT localhost:${server.port}`]);
    },
  );

  it('on this machine is reached directly when the proxy is elsewhere, whose loopback is another', async () => {
    await using server = await startHttpsServer('localhost', { id: 'u_1' });
    trust(server.certificate);
    const here = { origin: `https://localhost:${server.port}` };
    await using client = openTestClient(here, { proxy: httpsProxy('http://proxy.invalid:3128') });
    expect(await getMe(client)).toEqual({ id: 'u_1' });
  });

  it('does not go through a proxy that is set for plain http alone', async () => {
    await using server = await startHttpsServer('localhost', { id: 'u_1' });
    trust(server.certificate);
    await using proxy = await startForwardProxy();
    const here = { origin: `https://localhost:${server.port}` };
    await using client = openTestClient(here, { proxy: httpProxy(proxy.place) });
    expect(await getMe(client)).toEqual({ id: 'u_1' });
    expect(proxy.asked).toEqual([]);
  });
});

describe('a service over plain http on this machine', () => {
  it('is reached through a proxy that is on it too', async () => {
    await using server = await startHttpServer(me);
    await using proxy = await startForwardProxy({ credentials });
    await using client = openTestClient(server, { proxy: httpProxy(withCredentials(proxy.place)) });
    expect(await getMe(client)).toEqual({ id: 'u_1' });
    expect(proxy.asked).toEqual([`GET ${server.origin}/api/v1/me`]);
    expect(server.requests[0]?.headers.authorization).toBe(`Bearer ${testApiKey}`);
  });

  it.each(['http://proxy.invalid:3128', 'https://proxy.invalid'])(
    'is reached directly when the proxy is %s, which would see the key',
    async (url) => {
      await using server = await startHttpServer(me);
      await using client = openTestClient(server, { proxy: httpProxy(url) });
      expect(await getMe(client)).toEqual({ id: 'u_1' });
    },
  );

  it.each(['127.0.0.1', '127.0.0.1:PORT', '*'])('is reached directly where NO_PROXY is %j', async (noProxy) => {
    await using server = await startHttpServer(me);
    await using proxy = await startForwardProxy();
    const settings = httpProxy(proxy.place, noProxy.replace('PORT', String(server.port)));
    await using client = openTestClient(server, { proxy: settings });
    expect(await getMe(client)).toEqual({ id: 'u_1' });
    expect(proxy.asked).toEqual([]);
  });

  it('refuses a redirect that comes through the proxy', async () => {
    await using elsewhere = await startHttpServer(me);
    await using server = await startHttpServer(raw(302, '', { location: `${elsewhere.origin}/api/v1/me` }));
    await using proxy = await startForwardProxy();
    await using client = openTestClient(server, { proxy: httpProxy(proxy.place) });
    await expect(getMe(client)).rejects.toMatchObject({ code: 'PROTOCOL' });
    expect(elsewhere.requests).toEqual([]);
    expect(proxy.asked.length).toBe(1);
  });

  it('is reached directly whatever the environment of the process says', async () => {
    await using server = await startHttpServer(me);
    await using proxy = await startForwardProxy();
    for (const name of ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'HTTPS_PROXY']) {
      vi.stubEnv(name, `http://${proxy.place}`);
    }
    await using direct = openTestClient(server);
    await using unset = openTestClient(server, { proxy: readProxySettings({}) });
    expect([await getMe(direct), await getMe(unset)]).toEqual([{ id: 'u_1' }, { id: 'u_1' }]);
    expect(proxy.asked).toEqual([]);
  });

  it('goes through a proxy whatever NO_PROXY of the process says', async () => {
    await using server = await startHttpServer(me);
    await using proxy = await startForwardProxy();
    vi.stubEnv('no_proxy', '*');
    await using client = openTestClient(server, { proxy: httpProxy(proxy.place) });
    await getMe(client);
    expect(proxy.asked.length).toBe(1);
  });
});

describe.each([
  ['https', 'HTTPS_PROXY', httpsProxy],
  ['plain http', 'HTTP_PROXY', httpProxy],
] as const)('a proxy for %s', (scheme, variable, proxyFor) => {
  const openPath = async () => (scheme === 'https' ? null : await startHttpServer(me));

  it('that wants credentials fails the call at once and says where they go', async () => {
    await using server = await openPath();
    await using proxy = await startForwardProxy({ credentials });
    await using client = openTestClient(server ?? hosted, { proxy: proxyFor(proxy.place) });
    await expect(getMe(client)).rejects.toMatchObject({
      code: 'CONFIGURATION',
      exitCode: 2,
      issues: [
        {
          code: 'proxy-credentials',
          input: variable,
          message: `The proxy ${proxy.place} wants credentials; give them in the URL of ${variable}, as http://user:password@host:port.`,
        },
      ],
    });
    expect(proxy.asked.length).toBe(1);
    expect(server?.requests ?? []).toEqual([]);
  });

  it('that does not take the credentials says so without showing them', async () => {
    const log: string[] = [];
    const tell = (message: string) => log.push(message);
    const logger = { debug: tell, info: tell, warning: tell, error: tell, group: tell };
    await using server = await openPath();
    await using proxy = await startForwardProxy({ credentials: 'robot:another' });
    const settings = proxyFor(withCredentials(proxy.place));
    await using client = openTestClient(server ?? hosted, { proxy: settings, logger });
    const error = await catchError(getMe(client));
    expect(error.message).toBe(
      `${variable}: The proxy ${proxy.place} does not take the credentials in the URL of ${variable}; correct them, percent-encoded. (proxy-credentials)`,
    );
    expect(proxy.credentials).toEqual([`Basic ${Buffer.from(credentials).toString('base64')}`]);
    const shown = [describeError(error), inspect(error, { depth: 10 }), inspect(client), ...log].join('\n');
    for (const secret of [password, encodeURIComponent(password), Buffer.from(credentials).toString('base64')]) {
      expect(shown).not.toContain(secret);
    }
  });

  it('that is unreachable is named, without its credentials, after the last attempt', async () => {
    await using server = await openPath();
    const place = `127.0.0.1:${await findClosedPort()}`;
    await using client = openTestClient(server ?? hosted, { proxy: proxyFor(withCredentials(place)) });
    const error = await catchError(getMe(client));
    expect(error).toMatchObject({ code: 'NETWORK', hint: expect.stringContaining('10 times') as string });
    expect(error.message).toContain(`connect ECONNREFUSED ${place}`);
    expect(inspect(error, { depth: 10 })).not.toContain(encodeURIComponent(password));
  });
});

describe('a proxy that does not lead on', () => {
  it('and never responds delays an attempt no longer than its timeout', async () => {
    await using silent = await startSilentServer();
    const proxy = httpsProxy(`http://127.0.0.1:${silent.port}`);
    await using client = openTestClient(hosted, { proxy, limits: { attemptTimeoutMs: 30 } });
    await expect(getMe(client)).rejects.toThrow(
      'No complete answer from service.example:443 to GET /api/v1/me within 30 ms.',
    );
  });

  it.each([
    [403, 1],
    [502, 10],
  ])('with status %i is asked %i times in all', async (refusal, times) => {
    await using proxy = await startForwardProxy({ refusal });
    await using client = openTestClient(hosted, { proxy: httpsProxy(proxy.place) });
    const error = await catchError(getMe(client));
    expect(error).toMatchObject({
      code: 'NETWORK',
      message: `The proxy ${proxy.place} answered ${refusal} when it was asked to connect to service.example:443.`,
      hint: expect.stringContaining('NO_PROXY') as string,
    });
    expect(proxy.asked.length).toBe(times);
  });
});
