import { ConfigurationError } from './errors.ts';
import { Secret } from './redaction.ts';

/** The proxies of an environment. The URLs may hold credentials, so they are never shown. */
export interface ProxySettings {
  /** For plain http, as `http://user:password@host:port`. */
  httpProxy: string | null;
  /** For https, which it carries without seeing into it. */
  httpsProxy: string | null;
  /** Hosts that are reached without a proxy, separated by commas or spaces. */
  noProxy: string | null;
}

/**
 * Reads the proxies that the environment names, in lower case first and then in upper case, as curl does. An empty
 * variable counts as none, and a proxy without a scheme is one that speaks http.
 *
 * @throws {ConfigurationError} when a proxy's URL cannot be used; it is never quoted, since it may hold a password
 */
export function readProxySettings(environment: Readonly<Record<string, string | undefined>>): ProxySettings {
  return {
    httpProxy: readProxyUrl(environment, 'http_proxy'),
    httpsProxy: readProxyUrl(environment, 'https_proxy'),
    noProxy: findVariable(environment, 'no_proxy')?.value ?? null,
  };
}

/** Lists what of the proxies' credentials must not be shown, for a redactor. */
export function listProxySecrets({ httpProxy, httpsProxy }: ProxySettings): Secret[] {
  return [httpProxy, httpsProxy].flatMap((proxy) => {
    if (proxy === null) return [];
    const { username, password } = new URL(proxy);
    const [plainName, plainPassword] = [decodeURIComponent(username), decodeURIComponent(password)];
    // The header in which they travel, RFC 7617 §2; a name without a password is often a token.
    const basic = Buffer.from(`${plainName}:${plainPassword}`).toString('base64');
    const secrets = password === '' ? [username, plainName, basic] : [password, plainPassword, basic];
    return username === '' && password === '' ? [] : secrets.map((secret) => new Secret(secret));
  });
}

function findVariable(
  environment: Readonly<Record<string, string | undefined>>,
  lowerName: string,
): { name: string; value: string } | undefined {
  for (const name of [lowerName, lowerName.toUpperCase()]) {
    const value = environment[name]?.trim() ?? '';
    if (value !== '') return { name, value };
  }
  return undefined;
}

function readProxyUrl(environment: Readonly<Record<string, string | undefined>>, lowerName: string): string | null {
  const variable = findVariable(environment, lowerName);
  if (variable === undefined) return null;
  const { name, value } = variable;
  const url = URL.parse(value.includes('://') ? value : `http://${value}`);
  const problem = url === null ? 'is not a URL' : findProxyProblem(url);
  if (url !== null && problem === null) return url.href;
  const message = `${name} ${problem}; write it like http://host:port or http://user:password@host:port.`;
  throw new ConfigurationError([{ code: 'invalid-proxy', input: name, message }], {
    hint: 'Characters such as / ? # @ and % in a user name or password are written in percent-encoding.',
  });
}

function findProxyProblem(url: URL): string | null {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'names a proxy that speaks neither http nor https';
  // What comes after the host is most likely the rest of a password.
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '') return 'has something after its host and port';
  return isDecodable(url.username) && isDecodable(url.password) ? null : 'has a % that encodes nothing';
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
