import { computeScopeUnion, extractWWWAuthenticateParams, type FetchLike } from '@modelcontextprotocol/client';
import { type Clock, race } from '../base/time.ts';

/** The requirements in the WWW-Authenticate header of a refusal. */
export interface Challenge {
  resourceMetadataUrl?: URL | undefined;
  scope?: string | undefined;
}

export interface AccessToken {
  value: string;
  /** Null if the authorization server does not name it. */
  scope: string | null;
  /** Epoch milliseconds; null if the authorization server does not name it. */
  expiresAtMs: number | null;
}

/** The headers of one request that grant it access. */
export interface Grant {
  headers: ReadonlyArray<readonly [name: string, value: string]>;
  token: AccessToken | null;
  /** The statuses that the gate has already answered by repeating the request. */
  answered: ReadonlySet<number>;
}

/** Gives access to one server. All sessions of a gate share it, and with it one token. */
export interface ServerAccess {
  /** True if a refusal may be answered with another token. */
  readonly isRenewable: boolean;
  /** The names of the headers that every request has. */
  readonly headerNames: readonly string[];
  /**
   * Resolves with the headers for a request to this URL; null for another origin than the server's.
   *
   * @throws {ServerStartError} if a token has expired, and there is no other
   */
  grant(url: string | URL): Promise<Grant | null>;
  /**
   * Resolves with the headers for repeating the request: with another token after a 401, and after a 403 that asks for more scope. Null
   * if the request must not be repeated.
   *
   * @throws {ServerStartError} if there is no other token
   */
  renew(grant: Grant, response: Response): Promise<Grant | null>;
}

/** A token that is about to expire could be refused when it arrives. */
const expiryMarginMs = 30_000;

/**
 * Adds the headers and the token to requests to the origin of `url`. A token is requested if the server asks for one, and only once for
 * all requests that wait for it.
 */
export function createServerAccess(options: {
  url: string;
  headers: ReadonlyMap<string, { reveal(): string }>;
  /** Null if the server gets only the headers. */
  requestToken: ((challenge: Challenge) => Promise<AccessToken>) | null;
  /** The token of the first requests; none by default. */
  token?: AccessToken;
  clock: Clock;
}): ServerAccess {
  const { headers, requestToken, clock } = options;
  const { origin } = new URL(options.url);
  const fixed = [...headers].map(([name, value]) => [name, value.reveal()] as const);
  let token: AccessToken | null = options.token ?? null;
  let last: Challenge = {};
  let pending = Promise.resolve();

  const carry = (answered: ReadonlySet<number>): Grant => ({
    headers: token === null ? fixed : [...fixed, ['authorization', `Bearer ${token.value}`]],
    token,
    answered,
  });
  const request = async (used: AccessToken | null, challenge: Challenge) => {
    // Another request may have replaced the token meanwhile.
    if (token !== used || requestToken === null) return;
    token = await requestToken(challenge);
    last = challenge;
  };
  /** Replaces the token that was used; requests take turns. */
  const replace = async (used: AccessToken | null, challenge: Challenge) => {
    const turn = pending.then(() => request(used, challenge));
    pending = turn.catch(() => {});
    await turn;
  };
  const isExpired = () => (token?.expiresAtMs ?? Number.POSITIVE_INFINITY) - expiryMarginMs < clock.now();

  return {
    isRenewable: requestToken !== null,
    headerNames: fixed.map(([name]) => name),
    grant: async (url) => {
      if (new URL(url).origin !== origin) return null;
      if (isExpired()) await replace(token, last);
      return carry(new Set());
    },
    renew: async ({ token: used, answered }, response) => {
      const { status } = response;
      if (requestToken === null || answered.has(status) || (status !== 401 && status !== 403)) return null;
      const { resourceMetadataUrl = last.resourceMetadataUrl, scope, error } = extractWWWAuthenticateParams(response);
      if (status === 403 && error !== 'insufficient_scope') return null;
      await replace(used, {
        resourceMetadataUrl,
        scope: computeScopeUnion(last.scope, used?.scope ?? undefined, scope),
      });
      return carry(new Set([...answered, status]));
    },
  };
}

/** Adds the access headers to every request. The fetch must follow no redirects, since a header for one URL must not reach another. */
export function withAccess(fetch: FetchLike, access: ServerAccess | null | undefined): FetchLike {
  if (access === null || access === undefined) return fetch;
  return async (url, init = {}) => {
    const signals = init.signal === null || init.signal === undefined ? [] : [init.signal];
    let grant = await race(access.grant(url), { signals });
    while (grant !== null) {
      const headers = new Headers(init.headers);
      for (const [name, value] of grant.headers) headers.set(name, value);
      const response = await fetch(url, { ...init, headers });
      grant = await race(access.renew(grant, response), { signals });
      if (grant === null) return response;
      await response.body?.cancel();
    }
    return await fetch(url, init);
  };
}
