import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { ConfigurationError } from '../../src/base/errors.ts';
import { createRedactor } from '../../src/base/redaction.ts';
import { listKnownSecrets, parseGateOptions } from '../../src/gate/options.ts';
import { planGate } from '../../src/gate/plan/plan.ts';
import { previewGate } from '../../src/gate/preview.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { systemClock } from '../../src/base/time.ts';
import { createWorkspace, greenEvals } from '../support/workspace.ts';

const usual = { evals: 'x.evals.yaml', 'server-url': 'http://127.0.0.1:9/mcp' };
const client = 'client-id=gate\nissuer=https://auth.example.com';

async function plan(texts: Record<string, string>) {
  await using workspace = await createWorkspace({ 'x.evals.yaml': greenEvals });
  return await planGate(parseGateOptions({ ...usual, ...texts }), { cwd: workspace.path, environment: {} });
}

/** Returns the messages about all mistakes. None may contain `secret`. */
async function readMessages(texts: Record<string, string>, secret = 'k1-value'): Promise<string[]> {
  const error: unknown = await plan(texts).catch((reason: unknown) => reason);
  if (!(error instanceof ConfigurationError)) return [];
  expect(error.message).not.toContain(secret);
  return error.issues.map(({ input, message }) => `${input}: ${message}`);
}

describe('oauth-token-origin', () => {
  const origin = { 'oauth-token-origin': 'https://tokens.example.com' };
  const oauth = { 'server-oauth': client, 'server-oauth-secret': 'k1-value' };

  it('may be another origin than that of the issuer', async () => {
    expect(await readMessages({ ...oauth, ...origin })).toEqual([]);
  });

  it('has no effect without an OAuth client', async () => {
    const message = 'oauth-token-origin: has no effect without `server-oauth`; set that, or remove it';
    expect(await readMessages(origin)).toEqual([message]);
    const config = { 'server-url': '', 'mcp-config': 'mcp.json' };
    expect(await readMessages({ ...config, ...origin })).toContain(message);
  });

  it('has no effect where it is the origin of the issuer', async () => {
    expect(await readMessages({ ...oauth, 'oauth-token-origin': 'https://auth.example.com' })).toEqual([
      'oauth-token-origin: has no effect, because it is the origin of the `issuer`, which gets the secret anyway; remove it',
    ]);
  });
});

describe('allow-env-hosts', () => {
  const hosts = { 'allow-env-hosts': 'a.example\nB.example:8443\n[2001:db8::1]:443' };

  it('has no effect without `mcp-config`', async () => {
    expect(await readMessages(hosts)).toEqual([
      'allow-env-hosts: has no effect without `mcp-config`; set that, or remove it',
    ]);
  });

  it('has no effect without variables that could be sent', async () => {
    const messages = await readMessages({ ...hosts, 'server-url': '', 'mcp-config': 'mcp.json' });
    expect(messages).toContain('allow-env-hosts: has no effect without `server-env`; set that, or remove it');
  });

  it.each(['https://a.example', 'a.example/mcp', '*.example/', 'user@a.example'])('refuses %s', async (host) => {
    const texts = { 'server-url': '', 'mcp-config': 'mcp.json', 'server-env': 'A=b', 'allow-env-hosts': host };
    expect(await readMessages(texts)).toContain(
      `allow-env-hosts: ${JSON.stringify(host)} is no host and has no effect; write the host of the URL, such as staging.example.com or staging.example.com:8443`,
    );
  });
});

describe('server-headers', () => {
  it('holds one header a line, by lower-case name', () => {
    const text = 'Authorization: Bearer a:b \n\nX-Key:k1';
    const { serverHeaders } = parseGateOptions({ ...usual, 'server-headers': text });
    expect([...serverHeaders].map(([name, value]) => [name, value.reveal()])).toEqual([
      ['authorization', 'Bearer a:b'],
      ['x-key', 'k1'],
    ]);
  });

  it.each([
    ['k1-value', 'line 1 is not Name: value'],
    ['X-A: b\nX B: k1-value', 'line 2 is not Name: value'],
    ['X-Key:', 'line 1 has no value, or one with characters that no header can have'],
    ['X-Key: k1-value\u0007', 'line 1 has no value, or one with characters that no header can have'],
    ['X-Key: k1-value€', 'line 1 has no value, or one with characters that no header can have'],
    ['Mcp-Session-Id: k1-value', 'line 1 has a header that the gate sets itself'],
    ['Host: k1-value', 'line 1 has a header that the gate sets itself'],
    ['X-Key: a1\nx-key: k1-value', 'line 2 has a header that an earlier line has'],
  ])('rejects %j without its value', async (text, message) => {
    expect(await readMessages({ 'server-headers': text })).toEqual([`server-headers: ${message}`]);
  });

  it('needs a server over HTTP', async () => {
    const texts = { 'server-url': '', 'server-command': 'node server.js', 'server-headers': 'X-Key: k1-value' };
    expect(await readMessages(texts)).toEqual([
      'server-headers: goes over HTTP, and the server speaks over stdio; give `server-url`, or pass it with `server-env`',
    ]);
  });

  it('needs the tunnel of a hosted service', async () => {
    const hosted = { service: 'svc', 'base-url': 'https://host/api/v1', 'api-key': 'sk_1', tunnel: 'never' };
    const messages = await readMessages({ ...hosted, 'server-headers': 'X-Key: k1-value' });
    expect(messages).toContainEqual(expect.stringContaining('server-headers: is sent by the tunnel'));
  });

  it('is secret whole, after its scheme, decoded and cookie by cookie', () => {
    const basic = Buffer.from('user:pass-word').toString('base64');
    const texts = { 'server-headers': `Authorization: Basic ${basic}\nCookie: a=one-1; b=two-2\nloose-value` };
    expect(listKnownSecrets(texts, {}).map((secret) => secret.reveal())).toEqual(
      expect.arrayContaining([
        `Basic ${basic}`,
        basic,
        'pass-word',
        'a=one-1; b=two-2',
        'one-1',
        'two-2',
        'loose-value',
      ]),
    );
  });
});

describe('server-oauth', () => {
  it.each([
    ['secret-of-the-client', 'server-oauth: line 1 is not client-id=…, issuer=… or scope=…'],
    ['client-secret=k1-value', 'server-oauth: line 1 is not client-id=…, issuer=… or scope=…'],
    ['client-id=gate', 'server-oauth: needs the lines client-id=… and issuer=…'],
    ['client-id=gate\nissuer=http://auth.example.com', expect.stringContaining('`issuer` is not an https URL')],
  ])('rejects %j', async (text, message) => {
    const messages = await readMessages({ 'server-oauth': text, 'server-oauth-secret': 'k1-value' });
    expect(messages).toContainEqual(message);
  });

  it.each([
    [{ 'server-oauth': client }, 'server-oauth-secret: is needed with `server-oauth`'],
    [{ 'server-oauth-secret': 'k1-value' }, 'server-oauth: is needed with `server-oauth-secret`'],
    [
      { 'server-oauth': client, 'server-oauth-secret': 'k1-value', 'server-headers': 'Authorization: Bearer k1-value' },
      'server-headers: has the header Authorization, and so has the token of `server-oauth`; give one of the two',
    ],
  ])('rejects %j', async (texts, message) => {
    expect(await readMessages(texts)).toEqual([message]);
  });

  const pem = (type: 'ec' | 'x25519') =>
    (type === 'ec' ? generateKeyPairSync('ec', { namedCurve: 'prime256v1' }) : generateKeyPairSync('x25519')).privateKey
      .export({ type: 'pkcs8', format: 'pem' })
      .toString();

  it.each([
    ['in lines', (text: string) => text],
    ['in one line', (text: string) => text.replaceAll('\n', String.raw`\n`)],
  ])('takes a private key %s, and keeps it out of sight', async (_, write) => {
    const key = pem('ec');
    const planned = await plan({ 'server-oauth': client, 'server-oauth-secret': write(key) });
    expect(planned.servers[0]?.access?.oauth?.credential).toMatchObject({ asymmetricKeyType: 'ec' });
    const redactor = createRedactor(planned.secrets);
    for (const line of key.split('\n').slice(1, 2)) expect(redactor.redact(`x ${line} y`)).toBe('x *** y');
  });

  it.each([pem('x25519'), '-----BEGIN PRIVATE KEY-----\nk1-value\n-----END PRIVATE KEY-----'])(
    'rejects a key that it cannot sign with',
    async (key) => {
      const messages = await readMessages({ 'server-oauth': client, 'server-oauth-secret': key });
      expect(messages).toEqual([expect.stringContaining('server-oauth-secret: starts as a private key in PEM does')]);
    },
  );

  it('is in the preview by its issuer, next to the names of headers', async () => {
    const oauth = { 'server-oauth': client, 'server-oauth-secret': 'k1-value' };
    const planned = await plan({ ...oauth, 'server-headers': 'X-Key: k2-value' });
    const context = { clock: systemClock, logger: silentLogger, redactor: createRedactor() };
    const [line] = await previewGate(planned, { ...context, signal: new AbortController().signal });
    expect(line).toContain('server-url, with the header x-key, a token of https://auth.example.com with the service');
  });
});
