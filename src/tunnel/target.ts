import { Pool } from 'undici';
import { ConfigurationError } from '../base/errors.ts';
import type { ServerAccess } from '../mcp/access.ts';

/** The one HTTP server that a tunnel leads to. */
export interface TunnelTarget extends AsyncDisposable {
  readonly origin: string;
  readonly pool: Pool;
  readonly mapPath: PathMap;
  /** What lets requests in; null where the server lets in every one. */
  readonly access: ServerAccess | null;
}

const connectTimeoutMs = 10_000;

/**
 * Prepares requests to one URL. Origin and path are settled here; nothing that comes through the tunnel changes them.
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
    // How long an answer may take is for those to say who ask: a tool call may take minutes, a stream lasts for hours.
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

/** Where the relay serves a project's servers, each below its id. */
export const relayPath = '/api/mcp/adapter-http/';

/** Maps the URL of a request frame (path and query) to the path and query asked of the target; null when out of scope. */
export type PathMap = (url: string) => string | null;

/**
 * Maps `/api/mcp/adapter-http/<serverId>` and what is below it onto the path of `target`. The target's own query comes
 * first, the caller's after it without the relay's secret `k`. A path that could mean another place after some server has
 * normalised it is out of scope.
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

/** Whether a path has no segment that is dropped or split by servers, in any spelling, and no fragment. */
export function isPlainPath(path: string): boolean {
  return !/[\\#;]|\/\/|%(?:2e|2f|5c|25|0|1)|(?:^|\/)\.{1,2}(?:\/|$)/i.test(path);
}

/** The values of the relay's secret `k` in a query, which should have one, however their name is spelled. */
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
