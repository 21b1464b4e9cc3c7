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
