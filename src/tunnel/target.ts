import { Pool } from 'undici';
import { ConfigurationError } from '../base/errors.ts';
import type { ServerAccess } from '../mcp/access.ts';

/** The one HTTP server that a tunnel leads to. */
export interface TunnelTarget extends AsyncDisposable {
  readonly origin: string;
  readonly pool: Pool;
  readonly mapPath: PathMap;
  /** The access to the server; null if the server accepts every request. */
  readonly access: ServerAccess | null;
}

const connectTimeoutMs = 10_000;

/**
 * Prepares requests to one URL. Origin and path are fixed here; no request through the tunnel can change them.
 *
 * @throws {ConfigurationError} unless it is an http or https URL without user and password
 */
export function openTarget(
  { url, access = null }: { url: string; access?: ServerAccess | null },
  serverId: string,
): TunnelTarget {
  const target = URL.parse(url);
  if (target === null || !/^https?:$/.test(target.protocol) || target.username !== '' || target.password !== '') {
    const message = 'the server behind the tunnel needs an http or https URL without user and password';
    throw new ConfigurationError([{ code: 'invalid-url', input: 'server-url', message }]);
  }
  const pool = new Pool(target.origin, {
    // The caller limits the time of an answer: a tool call may take minutes, a stream lasts for hours.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: connectTimeoutMs, rejectUnauthorized: true },
  });
  return {
    origin: target.origin,
    pool,
    mapPath: createPathMap(serverId, target),
    access,
    [Symbol.asyncDispose]: () => pool.destroy(),
  };
}

/** The path below which the relay serves a project's servers, each by its id. */
export const relayPath = '/api/mcp/adapter-http/';

/** Maps the URL of a request frame (path and query) to the path and query for the target; null if it is out of scope. */
export type PathMap = (url: string) => string | null;

/**
 * Maps `/api/mcp/adapter-http/<serverId>` and the paths below it to the path of `target`. The target's own query comes first, then the
 * caller's without the relay's secret `k`. A path is out of scope if a server could normalize it to another path.
 */
export function createPathMap(serverId: string, target: URL): PathMap {
  const scope = `${relayPath}${encodeURIComponent(serverId)}`;
  const base = target.pathname.replace(/\/+$/, '');
  const ownQuery = target.search.slice(1);
  return (url) => {
    const [path = '', ...rest] = url.split('?');
    if (path !== scope && !path.startsWith(`${scope}/`)) return null;
    const remainder = path.slice(scope.length);
    if (!isPlainPath(remainder)) return null;
    const query = [ownQuery, dropSecret(rest.join('?'))].filter((part) => part !== '').join('&');
    const mapped = `${base}${remainder}`;
    return `${mapped === '' ? '/' : mapped}${query === '' ? '' : `?${query}`}`;
  };
}

/** Checks that a path has no fragment and no segment that servers drop or split, in any spelling. */
export function isPlainPath(path: string): boolean {
  return !/[\\#;]|\/\/|%(?:2e|2f|5c|25|0|1)|(?:^|\/)\.{1,2}(?:\/|$)/i.test(path);
}

/** Lists the values of the relay's secret `k` in a query, in any spelling of its name. There should be one. */
export function readSecrets(query: string): string[] {
  return query
    .split('&')
    .filter(isSecretPair)
    .map((pair) => decodeText(pair.slice(pair.indexOf('=') + 1)));
}

function dropSecret(query: string): string {
  return query
    .split('&')
    .filter((pair) => !isSecretPair(pair))
    .join('&');
}

function isSecretPair(pair: string): boolean {
  return decodeText(pair.split('=')[0] ?? '') === 'k';
}

function decodeText(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
