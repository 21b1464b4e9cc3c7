import type { KeyObject } from 'node:crypto';
import {
  ClientCredentialsProvider,
  discoverAuthorizationServerMetadata,
  discoverOAuthProtectedResourceMetadata,
  type FetchLike,
  fetchToken,
  OAuthError,
  PrivateKeyJwtProvider,
  selectResourceURL,
} from '@modelcontextprotocol/client';
import { fetch } from 'undici';
import { describeError, ServerStartError } from '../base/errors.ts';
import { Secret } from '../base/redaction.ts';
import { clipText, endSentence } from '../base/text.ts';
import { type Clock, startTimeLimit } from '../base/time.ts';
import { openRoute } from '../http/dispatcher.ts';
import type { ProxySettings } from '../http/proxy.ts';
import type { AccessToken, Challenge } from './access.ts';

/** A client that is registered with an authorization server and gets tokens without a person. */
export interface OAuthClient {
  clientId: string;
  /** The authorization server. No other server receives the client's credential. */
  issuer: string;
  /** The origin of its token endpoint, if it is not the issuer's; null allows only the issuer's. */
  tokenOrigin: string | null;
  /** Null requests the scope that the server under test asks for. */
  scope: string | null;
  /** Its secret, or the private key with which it signs. */
  credential: Secret | KeyObject;
}

const requestTimeoutMs = 15_000;

/** Metadata and tokens are short; a longer response is something else. */
const maxResponseBytes = 1024 * 1024;

/** The longest quotation of an authorization server's text. */
const longestText = 300;

/** The grant that gives a token to a client without a person, RFC 6749 §4.4. */
const clientCredentials = 'client_credentials';

/**
 * Makes a function that requests a token for the server at `serverUrl` with the client credentials grant. `onSecret` gets every secret
 * that the authorization server issues.
 *
 * If the server has protected resource metadata (RFC 9728), the metadata must name this authorization server.
 *
 * @throws {ServerStartError} from the returned function, if there is no token
 */
export async function openTokenRequest(
  client: OAuthClient,
  context: { serverUrl: string; proxy: ProxySettings | undefined; clock: Clock; onSecret: (secret: Secret) => void },
): Promise<(challenge: Challenge) => Promise<AccessToken>> {
  const { serverUrl, clock, onSecret } = context;
  const { issuer } = client;
  const provider = createProvider(client);
  // Signs once to load the signing code now, before a server runs that could change it.
  if ('addClientAuthentication' in provider) {
    await provider.addClientAuthentication(new Headers(), new URLSearchParams(), issuer);
  }
  const fetchFn = createAuthFetch(clock, context.proxy);

  const request = async ({ resourceMetadataUrl, scope }: Challenge) => {
    const resource = await readResource(serverUrl, { resourceMetadataUrl, fetchFn });
    const named = resource?.authorization_servers ?? [];
    if (named.length > 0 && !named.some((other) => isSameIssuer(other, issuer))) {
      const names = clipText(named.join(', '), longestText);
      throw new ServerStartError(`The server under test takes tokens of ${names}, and not of ${issuer}.`, {
        hint: 'Correct `issuer` in `server-oauth` if that is the authorization server that you trust with its secret.',
      });
    }
    const metadata = await discoverAuthorizationServerMetadata(issuer, { fetchFn });
    requireGrant(metadata?.grant_types_supported, issuer);
    requireOrigin(metadata?.token_endpoint, client);
    const selected = await selectResourceURL(serverUrl, provider, resource);
    const wanted = client.scope ?? scope ?? resource?.scopes_supported?.join(' ');
    const tokens = await fetchToken(provider, issuer, {
      ...(metadata !== undefined && { metadata }),
      ...(selected !== undefined && resource !== undefined && { resource: resource.resource }),
      ...(wanted !== undefined && { scope: wanted }),
      fetchFn,
    });
    for (const value of [tokens.access_token, tokens.refresh_token, tokens.id_token]) {
      if (value !== undefined) onSecret(new Secret(value));
    }
    const { access_token: value, expires_in: lifetimeS, scope: granted } = tokens;
    const expiresAtMs = lifetimeS === undefined ? null : clock.now() + lifetimeS * 1000;
    return { value, scope: granted ?? null, expiresAtMs };
  };
  return async (challenge) => {
    try {
      return await request(challenge);
    } catch (error) {
      throw error instanceof ServerStartError ? error : explainRefusal(error, issuer);
    }
  };
}

function createProvider({ clientId, issuer, scope, credential }: OAuthClient) {
  const common = { clientId, expectedIssuer: issuer, ...(scope !== null && { scope }) };
  if (credential instanceof Secret) {
    return new ClientCredentialsProvider({ ...common, clientSecret: credential.reveal() });
  }
  const privateKey = { ...credential.export({ format: 'jwk' }) };
  return new PrivateKeyJwtProvider({ ...common, privateKey, algorithm: chooseAlgorithm(credential) });
}

/** Chooses the algorithm for the kind of key, RFC 7518 §3.1 and RFC 8037 §3.1. */
function chooseAlgorithm({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): string {
  if (asymmetricKeyType === 'ed25519') return 'EdDSA';
  if (asymmetricKeyType !== 'ec') return 'RS256';
  const curves: Readonly<Record<string, string>> = { prime256v1: 'ES256', secp384r1: 'ES384', secp521r1: 'ES512' };
  return curves[asymmetricKeyDetails?.namedCurve ?? ''] ?? 'ES256';
}

/**
 * Reads the metadata of the server under test; undefined if it has none. The server names the URL, which is used only within the server's
 * origin.
 */
async function readResource(
  serverUrl: string,
  { resourceMetadataUrl, fetchFn }: { resourceMetadataUrl: URL | undefined; fetchFn: FetchLike },
) {
  const isOwn = resourceMetadataUrl !== undefined && resourceMetadataUrl.origin === new URL(serverUrl).origin;
  const options = isOwn ? { resourceMetadataUrl } : {};
  // The SDK also throws for a server without metadata.
  return await discoverOAuthProtectedResourceMetadata(serverUrl, options, fetchFn).catch(() => undefined);
}

/** @throws {ServerStartError} if the authorization server lists its grants and this one is missing */
function requireGrant(grants: readonly string[] | undefined, issuer: string): void {
  if (grants === undefined || grants.includes(clientCredentials)) return;
  const offered = clipText(grants.join(', '), longestText) || 'no grant at all';
  throw new ServerStartError(
    `The authorization server ${issuer} gives no token to a client alone: it offers ${offered}, and not ${clientCredentials}.`,
    {
      hint: 'A job has no browser to log in with. Give a token in `server-headers`, or have the server allow the grant.',
    },
  );
}

/** @throws {ServerStartError} if the metadata would send the credential to another origin than the options name */
function requireOrigin(tokenEndpoint: string | undefined, { issuer, tokenOrigin }: OAuthClient): void {
  const origin = tokenEndpoint === undefined ? null : (URL.parse(tokenEndpoint)?.origin ?? 'no URL');
  if (origin === null || origin === new URL(issuer).origin || origin === tokenOrigin) return;
  const shown = clipText(origin, longestText);
  throw new ServerStartError(
    `The metadata of the authorization server ${issuer} names a token endpoint of another origin, ${shown}, which would get the secret of the client.`,
    { hint: `Set \`oauth-token-origin: ${shown}\` if that origin is to get it.` },
  );
}

/** The SDK compares issuers in the same way. */
function isSameIssuer(a: string, b: string): boolean {
  return a.replace(/\/$/, '') === b.replace(/\/$/, '');
}

function explainRefusal(error: unknown, issuer: string): ServerStartError {
  const isRefused = error instanceof OAuthError;
  const why = clipText(isRefused ? `${error.code}: ${error.message}` : describeError(error), longestText);
  return new ServerStartError(endSentence(`The authorization server ${issuer} gave no token: ${why}`), {
    hint: isRefused
      ? 'Check `client-id` and `scope` in `server-oauth`, and `server-oauth-secret`.'
      : 'Check `issuer` in `server-oauth`, and whether the job reaches it.',
  });
}

/** Makes a fetch for the few short requests of authorization, through the proxies of the job. Each request opens a new connection. */
export function createAuthFetch(clock: Clock, proxy?: ProxySettings): FetchLike {
  return async (url, init = {}) => {
    const { dispatcher } = openRoute(new URL(url), { proxy, maxResponseBytes });
    const limited = { afterMs: requestTimeoutMs, what: 'The request', signal: init.signal ?? undefined };
    using limit = startTimeLimit(clock, limited);
    try {
      const response = await fetch(url, {
        method: init.method ?? 'GET',
        headers: [...new Headers(init.headers)],
        body: init.body instanceof URLSearchParams || typeof init.body === 'string' ? String(init.body) : null,
        redirect: 'manual',
        signal: limit.signal,
        dispatcher,
      });
      const body = await response.text();
      return new Response(body === '' ? null : body, { status: response.status, headers: [...response.headers] });
    } finally {
      await dispatcher.destroy();
    }
  };
}
