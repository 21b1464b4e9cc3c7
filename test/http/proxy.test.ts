import { assert, property, string } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ConfigurationError } from '../../src/base/errors.ts';
import { chooseProxy, listProxySecrets, readProxySettings, readProxyStatus } from '../../src/http/proxy.ts';

describe('readProxySettings', () => {
  it('reads what curl reads', () => {
    const environment = { http_proxy: 'http://a:1', HTTPS_PROXY: 'http://b:2', no_proxy: 'localhost,.example' };
    expect(readProxySettings(environment)).toEqual({
      httpProxy: 'http://a:1/',
      httpsProxy: 'http://b:2/',
      noProxy: 'localhost,.example',
    });
  });

  it.each([
    [{ https_proxy: 'http://lower:1', HTTPS_PROXY: 'http://upper:2' }, 'http://lower:1/'],
    [{ https_proxy: '', HTTPS_PROXY: 'http://upper:2' }, 'http://upper:2/'],
    [{ https_proxy: '  ', HTTPS_PROXY: '' }, null],
    [{}, null],
    [{ https_proxy: 'proxy.example:3128' }, 'http://proxy.example:3128/'],
    [{ https_proxy: 'robot:word@proxy.example:3128' }, 'http://robot:word@proxy.example:3128/'],
    [{ https_proxy: ' https://proxy.example ' }, 'https://proxy.example/'],
    [{ https_proxy: 'http://robot:p%23w@[::1]:3128/' }, 'http://robot:p%23w@[::1]:3128/'],
  ])('reads %j as %j', (environment, httpsProxy) => {
    expect(readProxySettings(environment)).toEqual({ httpProxy: null, httpsProxy, noProxy: null });
  });

  it.each([
    ['http://robot:hunter22@proxy.example:99999', 'is not a URL'],
    ['http://', 'is not a URL'],
    ['robot hunter22', 'is not a URL'],
    ['socks5://robot:hunter22@proxy.example', 'names a proxy that speaks neither http nor https'],
    ['http://robot:hunter/22@proxy.example:3128', 'is not a URL'],
    ['http://robot:7/hunter22@proxy.example:3128', 'has something after its host and port'],
    ['http://robot:7#hunter22@proxy.example:3128', 'has something after its host and port'],
    ['http://robot:7?hunter22@proxy.example:3128', 'has something after its host and port'],
    ['http://robot:hunter22%@proxy.example:3128', 'has a % that encodes nothing'],
  ])('refuses %j without quoting it', (url, problem) => {
    const message = `HTTP_PROXY ${problem}; write it like http://host:port or http://user:password@host:port.`;
    expect(() => readProxySettings({ HTTP_PROXY: url })).toThrow(
      expect.objectContaining({ issues: [{ code: 'invalid-proxy', input: 'HTTP_PROXY', message }] }),
    );
  });

  it('reads any text or refuses it without quoting it', () => {
    assert(
      property(string({ unit: 'binary' }), (text) => {
        try {
          const { httpProxy } = readProxySettings({ http_proxy: `robot:hunter22${text}@proxy.example:3128` });
          expect(new URL(httpProxy ?? '').protocol).toMatch(/^https?:$/);
        } catch (error) {
          expect(error).toBeInstanceOf(ConfigurationError);
          expect(String(error)).not.toContain('hunter22');
        }
      }),
      { numRuns: 200 },
    );
  });
});

describe('listProxySecrets', () => {
  const list = (url: string) => listProxySecrets(readProxySettings({ https_proxy: url })).map((one) => one.reveal());

  it('lists the password in every form in which it travels', () => {
    const basic = Buffer.from('robot:p#word').toString('base64');
    expect(list('http://robot:p%23word@proxy.example')).toEqual(['p%23word', 'p#word', basic]);
  });

  it('takes a name without a password for a token', () => {
    expect(list('http://token@proxy.example')).toEqual(['token', 'token', Buffer.from('token:').toString('base64')]);
  });

  it('lists nothing where there are no credentials', () => {
    expect(list('http://proxy.example:3128')).toEqual([]);
    expect(listProxySecrets(readProxySettings({}))).toEqual([]);
  });
});

describe('chooseProxy', () => {
  const settings = { httpProxy: 'http://plain.example:1/', httpsProxy: 'http://secure.example:2/', noProxy: null };

  it.each([
    ['http://a.example', 'plain.example:1'],
    ['ws://a.example', 'plain.example:1'],
    ['https://a.example', 'secure.example:2'],
    ['wss://a.example', 'secure.example:2'],
  ])('leads to %s through %s', (url, host) => {
    expect(chooseProxy(new URL(url), settings)?.host).toBe(host);
  });

  it.each(['http://127.0.0.1', 'https://localhost'])('leads to %s directly past a proxy on another machine', (url) => {
    expect(chooseProxy(new URL(url), settings)).toBeNull();
  });

  it('leads to this machine through a proxy that is here too', () => {
    const here = { ...settings, httpProxy: 'http://127.0.0.1:3128/' };
    expect(chooseProxy(new URL('http://localhost:80'), here)?.host).toBe('127.0.0.1:3128');
  });

  it('leads nowhere without settings', () => {
    const none = { httpProxy: null, httpsProxy: null, noProxy: null };
    expect([
      chooseProxy(new URL('https://a.example'), undefined),
      chooseProxy(new URL('https://a.example'), none),
    ]).toEqual([null, null]);
  });
});

describe('readProxyStatus', () => {
  it.each([
    [new Error('Proxy response (403) !== 200 when HTTP Tunneling'), 403],
    [new Error('Proxy Authentication Required (407)'), 407],
    [Object.assign(new Error('no'), { code: 'ERR_PROXY_TUNNEL', statusCode: 502 }), 502],
    [Object.assign(new Error('no'), { code: 'ERR_PROXY_TUNNEL' }), undefined],
    [Object.assign(new Error('no'), { code: 'ECONNRESET', statusCode: 502 }), undefined],
    ['Proxy response (403)', undefined],
  ])('reads %s as %s', (error, status) => {
    expect(readProxyStatus(error)).toBe(status);
  });
});
