import {
  discoverAuthorizationServerMetadata,
  discoverOAuthServerInfo,
  refreshAuthorization,
} from '@modelcontextprotocol/client';
import type { Clock } from '../base/time.ts';
import { createAuthFetch } from './client-credentials.ts';

/** A client that holds a refresh token of an authorization server. */
export interface RefreshGrant {
  /** The authorization server. No other server receives the token and the secret. */
  issuer: string;
  clientId: string;
  clientSecret: string | null;
  refreshToken: string;
  /** The resource that the tokens are for; null if none was named. */
  resource: string | null;
}

/** The tokens after a refresh. */
export interface RefreshedTokens {
  accessToken: string;
  /** The same as before if the authorization server issued no new one. */
  refreshToken: string;
  scope: string | null;
  /** Seconds; null if the authorization server does not name it. */
  lifetimeS: number | null;
}

/** Finds the authorization server that a server names in its metadata (RFC 9728); null if there is none that answers. */
export async function findIssuer(serverUrl: string, clock: Clock): Promise<string | null> {
  try {
    const found = await discoverOAuthServerInfo(serverUrl, { fetchFn: createAuthFetch(clock) });
    return found.authorizationServerMetadata?.issuer ?? null;
  } catch {
    return null;
  }
}

/**
 * Gets a new access token (RFC 6749 §6).
 *
 * @throws the SDK's or fetch's error if the authorization server issues none
 */
export async function refreshTokens(
  { issuer, clientId, clientSecret, refreshToken, resource }: RefreshGrant,
  clock: Clock,
): Promise<RefreshedTokens> {
  const fetchFn = createAuthFetch(clock);
  const metadata = await discoverAuthorizationServerMetadata(issuer, { fetchFn });
  const tokens = await refreshAuthorization(issuer, {
    ...(metadata !== undefined && { metadata }),
    clientInformation: { client_id: clientId, ...(clientSecret !== null && { client_secret: clientSecret }) },
    refreshToken,
    ...(resource !== null && { resource: new URL(resource) }),
    fetchFn,
  });
  return {
    accessToken: tokens.access_token,
    refreshToken: tokens.refresh_token ?? refreshToken,
    scope: tokens.scope ?? null,
    lifetimeS: tokens.expires_in ?? null,
  };
}
