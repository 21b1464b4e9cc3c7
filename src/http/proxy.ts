import { ConfigurationError, NetworkError, readErrorCode } from '../base/errors.ts';
import { Secret } from '../base/redaction.ts';
import { isLoopback } from './url.ts';

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

/**
 * Chooses the proxy for a URL; null where the settings name none for its scheme. A service on this machine is reached directly
 * unless the proxy is here too: one elsewhere has another loopback, and would see the key in clear. NO_PROXY may lead around the
 * proxy that is chosen.
 */
export function chooseProxy(target: URL, settings: ProxySettings | undefined): URL | null {
  const text = readVariableName(target) === 'HTTPS_PROXY' ? settings?.httpsProxy : settings?.httpProxy;
  if (text == null) return null;
  const proxy = new URL(text);
  return isLoopback(target.hostname) && !isLoopback(proxy.hostname) ? null : proxy;
}

function readVariableName({ protocol }: URL): 'HTTP_PROXY' | 'HTTPS_PROXY' {
  return protocol === 'https:' || protocol === 'wss:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
}

/** The proxy on the way to a service, as far as an error may describe it. */
export interface ProxyHop {
  /** `host:port`. */
  hostPort: string;
  hasCredentials: boolean;
  /** The environment variable that names proxies for this service. */
  variable: 'HTTP_PROXY' | 'HTTPS_PROXY';
}

export function describeProxyHop(proxy: URL, target: URL): ProxyHop {
  const port = proxy.port === '' ? (proxy.protocol === 'https:' ? '443' : '80') : proxy.port;
  const variable = readVariableName(target);
  return { hostPort: `${proxy.hostname}:${port}`, hasCredentials: proxy.username !== '', variable };
}

/** The status with which a proxy refused to lead on, or undefined where something else went wrong. */
export function readProxyStatus(error: unknown): number | undefined {
  // Node's own agent, which the tunnel uses.
  if (readErrorCode(error) === 'ERR_PROXY_TUNNEL' && error instanceof Error && 'statusCode' in error) {
    return typeof error.statusCode === 'number' ? error.statusCode : undefined;
  }
  // undici reports the status in its message alone: the first for a tunnel, the second for plain http.
  const text = error instanceof Error ? error.message : '';
  const match = /^Proxy response \((\d{3})\)|^Proxy Authentication Required \((407)\)/.exec(text);
  return match === null ? undefined : Number(match[1] ?? match[2]);
}

/** Makes an error of a proxy's refusal to lead on to `target`, a `host:port`. It never holds the proxy's credentials. */
export function explainProxyRefusal(
  status: number,
  { hostPort, hasCredentials, variable }: ProxyHop,
  target: string,
): ConfigurationError | NetworkError {
  if (status === 407) {
    const message = hasCredentials
      ? `The proxy ${hostPort} does not take the credentials in the URL of ${variable}; correct them, percent-encoded.`
      : `The proxy ${hostPort} wants credentials; give them in the URL of ${variable}, as http://user:password@host:port.`;
    return new ConfigurationError([{ code: 'proxy-credentials', input: variable, message }]);
  }
  const message = `The proxy ${hostPort} answered ${status} when it was asked to connect to ${target}.`;
  return new NetworkError(message, {
    hint: 'See whether the proxy allows and reaches it, or name the host in NO_PROXY where the job reaches it directly.',
  });
}
