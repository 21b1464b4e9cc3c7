import { createPrivateKey, type KeyObject } from 'node:crypto';
import type { Findings } from '../../base/findings.ts';
import { Secret } from '../../base/redaction.ts';
import { isProtected } from '../../http/url.ts';
import type { OAuthClient } from '../../mcp/client-credentials.ts';
import type { AccessOptions } from '../../server/running-server.ts';
import type { GateOptions } from '../options/schema.ts';
import { planProxies } from './plan-service.ts';

type GivenAccess = Pick<GateOptions, 'serverHeaders' | 'serverOauth' | 'serverOauthSecret' | 'oauthTokenOrigin'>;

/** Plans the credentials for requests to the server; null if they need none. */
export function planAccess(
  { serverHeaders: headers, serverOauth, serverOauthSecret, oauthTokenOrigin }: GivenAccess,
  environment: Readonly<Record<string, string | undefined>>,
  findings: Findings,
): AccessOptions | null {
  const oauth =
    serverOauth === null || serverOauthSecret === null
      ? null
      : { ...planOAuth(serverOauth, serverOauthSecret, findings), tokenOrigin: oauthTokenOrigin };
  if (headers.size === 0 && oauth === null) return null;
  return { headers, oauth, proxy: oauth === null ? undefined : planProxies(environment, findings) };
}

/** Lists what no output may show: whole values, and the credentials after the scheme of `Authorization`. */
export function listAccessSecrets({
  serverHeaders,
  serverOauthSecret,
}: Pick<GivenAccess, 'serverHeaders' | 'serverOauthSecret'>): Secret[] {
  const values = [...serverHeaders.values()].flatMap((secret) => [
    secret,
    ...listCredentials(secret.reveal()).map((text) => new Secret(text)),
  ]);
  return serverOauthSecret === null ? values : [...values, serverOauthSecret, new Secret(readLines(serverOauthSecret))];
}

/** Lists the parts of a header's value that are secret by themselves: credentials after a scheme, the password in them, and values of cookies. */
export function listCredentials(value: string): string[] {
  const [, scheme = '', credentials = ''] = /^([\w-]+) +(\S.*)$/.exec(value) ?? [];
  const login = /^basic$/i.test(scheme) ? Buffer.from(credentials, 'base64').toString() : '';
  const pairs = value.split(/; */).map((pair) => pair.slice(pair.indexOf('=') + 1));
  return [credentials, login, login.slice(login.indexOf(':') + 1), ...pairs].filter(
    (text) => text !== '' && text !== value,
  );
}

function planOAuth(
  { clientId, issuer, scope }: NonNullable<GateOptions['serverOauth']>,
  secret: Secret,
  findings: Findings,
): Omit<OAuthClient, 'tokenOrigin'> {
  const url = URL.parse(issuer);
  if (url === null || !isProtected(url)) {
    const message =
      '`issuer` is not an https URL; write the issuer of the authorization server, such as https://auth.example.com';
    findings.add({ input: 'server-oauth', code: 'bad-issuer', message });
  }
  return { clientId, issuer, scope, credential: readPrivateKey(secret, findings) ?? secret };
}

/** Null if the secret is no key in PEM. */
function readPrivateKey(secret: Secret, findings: Findings): KeyObject | null {
  const text = readLines(secret);
  if (!text.startsWith('-----BEGIN')) return null;
  try {
    const key = createPrivateKey(text);
    if (['rsa', 'ec', 'ed25519'].includes(key.asymmetricKeyType ?? '')) return key;
  } catch {
    // The parser's message may quote the key.
  }
  const message =
    'starts as a private key in PEM does and cannot be read as one; give an RSA, EC or Ed25519 key without a passphrase';
  findings.add({ input: 'server-oauth-secret', code: 'bad-private-key', message });
  return null;
}

/** Restores line breaks: variables often hold those of a key as the two characters `\n`. */
function readLines(secret: Secret): string {
  return secret
    .reveal()
    .replaceAll(String.raw`\n`, '\n')
    .trim();
}
