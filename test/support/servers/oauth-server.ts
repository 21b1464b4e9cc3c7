import { createPublicKey, type KeyObject, randomUUID, verify } from 'node:crypto';
import {
  type OAuthTokenVerifier,
  oauthMetadataResponse,
  OAuthError,
  OAuthErrorCode,
  requireBearerAuth,
} from '@modelcontextprotocol/server';
import { json, raw, type ReceivedRequest, startHttpServer } from '../network/http-server.ts';

/** The client that the authorization server knows. */
export const oauthClient = { id: 'gate', secret: 'c1-Zq81vK3mW7xT1pR5' };

export interface OAuthServer extends AsyncDisposable {
  issuer: string;
  /** Bodies of the token requests so far, oldest first. */
  requests: URLSearchParams[];
  /** All tokens so far, oldest first. */
  tokens: string[];
  /** Makes all tokens so far invalid. */
  revoke(): void;
  verifier: OAuthTokenVerifier;
}

/**
 * Starts an authorization server on loopback that issues tokens with the client credentials grant: to `oauthClient` by its secret, or by
 * assertions that `publicKey` verifies. It also answers whether a token is valid (RFC 7662).
 */
export async function startOAuthServer(
  options: { grants?: string[]; publicKey?: KeyObject; lifetimeS?: number; scope?: string; tokenOrigin?: string } = {},
): Promise<OAuthServer> {
  const { grants = ['client_credentials'], publicKey, lifetimeS } = options;
  const requests: URLSearchParams[] = [];
  const valid = new Map<string, string[]>();
  const tokens: string[] = [];
  const isClient = (request: ReceivedRequest, body: URLSearchParams) => {
    if (publicKey !== undefined)
      return isSigned(body.get('client_assertion') ?? '', { publicKey, audience: http.origin });
    const basic = Buffer.from(`${oauthClient.id}:${oauthClient.secret}`).toString('base64');
    return request.headers.authorization === `Basic ${basic}`;
  };
  const http = await startHttpServer((response, request) => {
    const issuer = http.origin;
    if (request.url === '/.well-known/oauth-authorization-server') {
      const metadata = {
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${options.tokenOrigin ?? issuer}/token`,
        response_types_supported: ['code'],
        grant_types_supported: grants,
        token_endpoint_auth_methods_supported: [publicKey === undefined ? 'client_secret_basic' : 'private_key_jwt'],
      };
      return json(200, metadata)(response, request);
    }
    const body = new URLSearchParams(request.body);
    if (request.url === '/introspect') {
      const active = valid.has(body.get('token') ?? '');
      return json(200, { active, ...(active && { client_id: oauthClient.id }) })(response, request);
    }
    if (request.url !== '/token') return raw(404, '')(response, request);
    requests.push(body);
    if (!isClient(request, body)) {
      return json(401, { error: 'invalid_client', error_description: 'The client is unknown' })(response, request);
    }
    const token = `at-${randomUUID()}`;
    const scope = options.scope ?? body.get('scope') ?? '';
    valid.set(token, scope.split(' '));
    tokens.push(token);
    const lifetime = lifetimeS === undefined ? {} : { expires_in: lifetimeS };
    return json(200, { access_token: token, token_type: 'Bearer', scope, ...lifetime })(response, request);
  });
  return {
    issuer: http.origin,
    requests,
    tokens,
    revoke: () => valid.clear(),
    verifier: {
      verifyAccessToken: async (token) => {
        const scopes = valid.get(token);
        if (scopes === undefined) throw new OAuthError(OAuthErrorCode.InvalidToken, 'The token is unknown');
        return { token, clientId: oauthClient.id, scopes, expiresAt: Math.floor(Date.now() / 1000) + 600 };
      },
    },
    [Symbol.asyncDispose]: () => http[Symbol.asyncDispose](),
  };
}

/** Guards a server at its URL like the official SDK: with metadata for clients, and a challenge if there is no valid token. */
export function guardWithTokens({ issuer, verifier }: OAuthServer, scopes: string[] = []) {
  return async (request: Request): Promise<Response | null> => {
    const resourceServerUrl = new URL('/mcp', request.url);
    const metadata = oauthMetadataResponse(request, {
      oauthMetadata: {
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        response_types_supported: ['code'],
      },
      resourceServerUrl,
      scopesSupported: scopes,
      dangerouslyAllowInsecureIssuerUrl: true,
    });
    if (metadata !== undefined) return metadata;
    const resourceMetadataUrl = new URL('/.well-known/oauth-protected-resource/mcp', request.url).href;
    const judged = await requireBearerAuth({ verifier, requiredScopes: scopes, resourceMetadataUrl })(request);
    return judged instanceof Response ? judged : null;
  };
}

function isSigned(assertion: string, { publicKey, audience }: { publicKey: KeyObject; audience: string }): boolean {
  const [head = '', claims = '', signature = ''] = assertion.split('.');
  const { alg } = JSON.parse(Buffer.from(head, 'base64url').toString() || '{}');
  const { iss, sub, aud } = JSON.parse(Buffer.from(claims, 'base64url').toString() || '{}');
  const key = {
    key: createPublicKey(publicKey.export({ type: 'spki', format: 'pem' })),
    dsaEncoding: 'ieee-p1363' as const,
  };
  const isRight = verify(
    alg === 'EdDSA' ? null : 'sha256',
    Buffer.from(`${head}.${claims}`),
    key,
    Buffer.from(signature, 'base64url'),
  );
  return isRight && iss === oauthClient.id && sub === oauthClient.id && aud === audience;
}
