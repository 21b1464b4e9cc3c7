import { computeScopeUnion, extractWWWAuthenticateParams, type FetchLike } from '@modelcontextprotocol/client';
import { type Clock, race } from '../base/time.ts';

/** What a refusal asks for, as far as its WWW-Authenticate header says. */
export interface Challenge {
  resourceMetadataUrl?: URL | undefined;
  scope?: string | undefined;
}

export interface AccessToken {
  value: string;
  /** Null where the authorization server does not say. */
  scope: string | null;
  /** Epoch milliseconds; null where the authorization server does not say. */
  expiresAtMs: number | null;
}

/** What one request carries. */
export interface Grant {
  headers: ReadonlyArray<readonly [name: string, value: string]>;
  token: AccessToken | null;
  /** The statuses after which the request was sent once more already. */
  answered: ReadonlySet<number>;
}

/** What the requests to one server carry so that it lets them in. All sessions of a gate share it, and with it one token. */
export interface ServerAccess {
  /** Whether a refusal may be answered with another token. */
  readonly isRenewable: boolean;
  /** The names of the headers that every request carries. */
  readonly headerNames: readonly string[];
  /**
   * Resolves with what a request to this URL carries; null for another origin than the server's.
   *
   * @throws {ServerStartError} when a token has expired, and there is no other
   */
  grant(url: string | URL): Promise<Grant | null>;
  /**
   * Resolves with what the request carries when it is sent once more: another token after a 401, and after a 403 that asks for more
   * scope. Null where the response stands.
   *
   * @throws {ServerStartError} when there is no other token
   */
  renew(grant: Grant, response: Response): Promise<Grant | null>;
}

/** A token that is about to expire would be refused on its way. */
const expiryMarginMs = 30_000;

/**
 * Lets requests to the origin of `url` carry the headers and the token. A token is requested when the server asks for one, and once
 * for all requests that wait for it.
 */
export function createServerAccess(options: {
  url: string;
  headers: ReadonlyMap<string, { reveal(): string }>;
  /** Null where the server gets nothing but the headers. */
  requestToken: ((challenge: Challenge) => Promise<AccessToken>) | null;
  /** What the first requests carry; none unless given. */
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
    // Another request may have replaced it by now.
    if (token !== used || requestToken === null) return;
    token = await requestToken(challenge);
    last = challenge;
  };
  /** Replaces the token that was used, one request after the other. */
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

/** Has every request carry what lets it in. The fetch must follow no redirects: a header for one URL is not for another. */
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
