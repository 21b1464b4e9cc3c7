import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { json, startHttpServer, type TestHttpServer } from '../../../../test/support/network/http-server.ts';
import { openTunnelPath, type TunnelPath } from '../../../../test/support/network/tunnel-path.ts';

let server: TestHttpServer;
let path: TunnelPath;
beforeAll(async () => {
  server = await startHttpServer(json(200, {}));
  path = await openTunnelPath(`${server.origin}/mcp`);
});
afterAll(async () => {
  await path[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

/** Sends what is put into a request of the public URL as it stands, and gives back the answer. */
async function send(render: (url: { path: string; host: string; secret: string }) => string): Promise<string> {
  const { host, port, pathname, search, searchParams } = new URL(path.publicUrl);
  const socket = connect(Number(port), '127.0.0.1');
  socket.write(render({ path: `${pathname}${search}`, host, secret: searchParams.get('k') ?? '' }), 'latin1');
  return text(socket).catch(() => '');
}

const close = 'Connection: close\r\n\r\n';
const withHost = (name: (host: string) => string) => (path: string, host: string) =>
  `GET ${path} HTTP/1.1\r\nHost: ${name(host)}\r\n${close}`;
const withTarget = (target: (path: string) => string) => (path: string, host: string) =>
  `GET ${target(path)} HTTP/1.1\r\nHost: ${host}\r\n${close}`;
const below = (remainder: string) => withTarget((path) => path.replace('?', `${remainder}?`));
const withMethod = (method: string) => (path: string, host: string) =>
  `${method} ${path} HTTP/1.1\r\nHost: ${host}\r\n${close}`;
const withFields = (fields: string) => (path: string, host: string) =>
  `POST ${path} HTTP/1.1\r\nHost: ${host}\r\n${fields}\r\n${close}`;
const withQuery = (render: (secret: string) => string) => (path: string, host: string, secret: string) =>
  `POST ${path.split('?')[0]}${render(secret)} HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 46\r\n${close}k=${secret}`;

const hostile: Array<[string, (path: string, host: string, secret: string) => string]> = [
  ['a name that was rebound', withHost(() => 'evil.example')],
  ['a name that was rebound, with the port', withHost((host) => `evil.example:${host.split(':')[1]}`)],
  ['a name that begins right', withHost((host) => `${host}.evil.example`)],
  ['a name that ends right', withHost((host) => `evil.${host}`)],
  ['a dot after the name', withHost(() => 'localhost.')],
  ['a user before the host', withHost((host) => `u@${host}`)],
  ['a host before the host', withHost((host) => `evil.example@${host}`)],
  ['a path in the host', withHost((host) => `${host}/x`)],
  ['a query in the host', withHost((host) => `${host}?x`)],
  ['a space in the host', withHost((host) => `${host} evil.example`)],
  ['a comma in the host', withHost((host) => `${host},evil.example`)],
  ['an empty host', withHost(() => '')],
  ['another IPv6 address', withHost(() => '[fe80::1]')],
  ['an IPv6 address in IPv4 clothes', withHost(() => '[::ffff:8.8.8.8]')],
  ['an address of any', withHost(() => '0.0.0.0')],
  ['an address that is private', withHost(() => '10.0.0.1')],
  ['a number for an address', withHost(() => '134744072')],
  ['no host', (path) => `GET ${path} HTTP/1.1\r\n${close}`],
  ['no host, in HTTP/1.0', (path) => `GET ${path} HTTP/1.0\r\n${close}`],
  ['two hosts', withFields('Host: evil.example')],
  ['a target with an origin', withTarget((path) => `http://evil.example${path}`)],
  ['a target with our origin', (path, host) => `GET http://${host}${path} HTTP/1.1\r\nHost: ${host}\r\n${close}`],
  ['a target of another scheme', withTarget((path) => `file://${path}`)],
  ['a network-path target', withTarget((path) => `//evil.example${path}`)],
  ['a target without a slash', withTarget((path) => path.slice(1))],
  ['a target that is a star', withTarget(() => '*')],
  ['a user in the target', withTarget((path) => `@evil.example${path}`)],
  ['TRACE', withMethod('TRACE')],
  ['CONNECT', withMethod('CONNECT')],
  ['CONNECT to another', (_path, host) => `CONNECT evil.example:443 HTTP/1.1\r\nHost: ${host}\r\n${close}`],
  ['PROPFIND', withMethod('PROPFIND')],
  ['a method of its own', withMethod('EVIL')],
  ['a method in lower case', withMethod('get')],
  [
    'an upgrade to WebSocket',
    (path, host) => `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n`,
  ],
  [
    'an upgrade to HTTP/2',
    (path, host) => `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n`,
  ],
  ['dots', below('/../x')],
  ['dots at the end', below('/..')],
  ['one dot', below('/./x')],
  ['encoded dots', below('/%2e%2E/x')],
  ['a half encoded dot', below('/.%2e/x')],
  ['dots encoded twice', below('/%252e%252e/x')],
  ['dots before', withTarget((path) => `/x/..${path}`)],
  ['dots into another server', withTarget((path) => path.replace(/srv_/, 'other/../srv_'))],
  ['two slashes', below('//x')],
  ['an encoded slash', below('/a%2fx')],
  ['a backslash', below('/\\x')],
  ['an encoded backslash', below('/%5cx')],
  ['a line break', below('/x\r\nX: y')],
  ['an encoded line break', below('/%0d%0ax')],
  ['an encoded null', below('/%00')],
  ['a letter beyond ASCII', below('/\xe4')],
  ['a semicolon', below('/..;/x')],
  ['the secret twice', withQuery((secret) => `?k=${secret}&k=${secret}`)],
  ['the secret twice, once encoded', withQuery((secret) => `?k=${secret}&%6b=x`)],
  ['the secret in the fragment', withQuery((secret) => `#k=${secret}`)],
  ['the secret in the body', withQuery(() => '')],
  ['the secret under another name', withQuery((secret) => `?K=${secret}&key=${secret}`)],
  ['two lengths', withFields('Content-Length: 0\r\nContent-Length: 5')],
  ['a length next to chunks', withFields('Content-Length: 5\r\nTransfer-Encoding: chunked')],
  ['chunks next to a length', withFields('Transfer-Encoding: chunked\r\nContent-Length: 5')],
  ['chunks that are none', withFields('Transfer-Encoding: xchunked')],
  ['chunks twice', withFields('Transfer-Encoding: chunked, identity')],
  ['a space before the colon', withFields('Transfer-Encoding : chunked')],
  ['a length that is negative', withFields('Content-Length: -1')],
  ['a length with a sign', withFields('Content-Length: +5')],
  ['a folded field', withFields('X-A: b\r\n c: d')],
  ['a bare line feed', withFields('X-A: b\nHost: evil.example')],
  ['a null in a field', withFields('X-A: b\0c')],
];

describe('the public side', () => {
  it.each(hostile)('lets no request through with %s', async (_name, render) => {
    const before = server.requests.length;
    const answer = await send(({ path, host, secret }) => render(path, host, secret));
    expect(answer === '' || /^HTTP\/1\.1 [45]\d\d /.test(answer)).toBe(true);
    expect(server.requests.length).toBe(before);
  });

  it('passes on no header of the relay or the hop, and no request hidden in another', async () => {
    const before = server.requests.length;
    const hidden = 'GET /mcp?hidden=1 HTTP/1.1\r\nHost: x\r\n\r\n';
    const fields =
      'TE: trailers\r\nKeep-Alive: timeout=9\r\nProxy-Authorization: Basic x\r\nX-Hop: 1\r\nConnection: x-hop, close';
    const answer = await send(
      ({ path, host }) =>
        `POST ${path}&a=1 HTTP/1.1\r\nHost: ${host}\r\nTransfer-Encoding: chunked\r\n${fields}\r\n\r\n` +
        `${hidden.length.toString(16)}\r\n${hidden}\r\n0\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    const [{ method, url, headers, body } = {} as never, ...others] = server.requests.slice(before);
    const { 'content-length': _length, 'transfer-encoding': _coding, ...rest } = headers;
    expect({ method, url, headers: rest, body, others: others.length }).toEqual({
      method: 'POST',
      url: '/mcp?a=1',
      headers: {
        connection: 'keep-alive',
        host: new URL(server.origin).host,
        'x-forwarded-host': new URL(path.publicUrl).host,
      },
      body: hidden,
      others: 0,
    });
  });
});
