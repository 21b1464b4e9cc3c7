import { ConfigurationError, NetworkError, readErrorCode } from '../base/errors.ts';
import { Secret } from '../base/redaction.ts';
import { isLoopback } from './url.ts';

/** The proxies that the environment names. Their URLs may hold credentials, so they are never printed. */
export interface ProxySettings {
  /** The proxy for plain http, as `http://user:password@host:port`. */
  httpProxy: string | null;
  /** The proxy for https. It forwards the encrypted connection and cannot read it. */
  httpsProxy: string | null;
  /** Hosts that are reached without a proxy, separated by commas or spaces. */
  noProxy: string | null;
}

/**
 * Reads the proxies that the environment names, in lower case first and then in upper case, as curl does. An empty variable means no
 * proxy. A proxy without a scheme uses http.
 *
 * @throws {ConfigurationError} if a proxy's URL cannot be used; the error never quotes it, since it may hold a password
 */
export function readProxySettings(environment: Readonly<Record<string, string | undefined>>): ProxySettings {
  return {
    httpProxy: readProxyUrl(environment, 'http_proxy'),
    httpsProxy: readProxyUrl(environment, 'https_proxy'),
    noProxy: findVariable(environment, 'no_proxy')?.value ?? null,
  };
}

/** Lists the credentials of the proxies in all their forms, for a redactor. */
export function listProxySecrets({ httpProxy, httpsProxy }: ProxySettings): Secret[] {
  return [httpProxy, httpsProxy].flatMap((proxy) => {
    if (proxy === null) return [];
    const { username, password } = new URL(proxy);
    const [plainName, plainPassword] = [decodeURIComponent(username), decodeURIComponent(password)];
    // Proxies get the credentials in this header, RFC 7617 §2. A name without a password is often a token.
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
  // Text after the host is most likely the rest of a password.
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
 * Chooses the proxy for a URL; null if the settings name none for its scheme. A service on this machine is reached directly unless the
 * proxy is on this machine, too: a remote proxy has another loopback, and would see the key in clear text. NO_PROXY may bypass the chosen
 * proxy.
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

/** The details of the proxy to a service that an error may print. */
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

/** Reads the status with which a proxy refused to connect; undefined if the error has another cause. */
export function readProxyStatus(error: unknown): number | undefined {
  // Node's own agent, which the tunnel uses, reports the status in a field.
  if (readErrorCode(error) === 'ERR_PROXY_TUNNEL' && error instanceof Error && 'statusCode' in error) {
    return typeof error.statusCode === 'number' ? error.statusCode : undefined;
  }
  // undici reports the status only in its message: the first pattern is for CONNECT, the second for plain http.
  const text = error instanceof Error ? error.message : '';
  const match = /^Proxy response \((\d{3})\)|^Proxy Authentication Required \((407)\)/.exec(text);
  return match === null ? undefined : Number(match[1] ?? match[2]);
}

/** Makes an error for a proxy that refuses to connect to `target`, a `host:port`. It never holds the proxy's credentials. */
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
