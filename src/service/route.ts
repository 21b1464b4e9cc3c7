import { Agent, EnvHttpProxyAgent, Pool } from 'undici';
import type { Dispatcher } from 'undici';
import { isLoopback } from '../base/loopback.ts';
import type { ProxySettings } from '../base/proxy.ts';

const connectTimeoutMs = 10_000;

/** The proxy on the way to a service, as far as an error may tell of it. */
export interface ProxyHop {
  /** `host:port`. */
  place: string;
  hasCredentials: boolean;
  /** The environment variable that names proxies for this service. */
  variable: 'HTTP_PROXY' | 'HTTPS_PROXY';
}

/** How requests reach a service. */
export interface Route {
  dispatcher: Dispatcher;
  /** Null where no proxy is set for its scheme. NO_PROXY may still lead around one that is. */
  proxy: ProxyHop | null;
}

/**
 * Makes the connections to a service, through the proxy that the settings name for it. A service on this machine is
 * reached directly unless the proxy is here too: one elsewhere has another loopback, and would see the key in clear.
 * `signal` ends all connections, those too that do not stand yet, for which the dispatcher itself would wait.
 */
export function openRoute(
  baseUrl: URL,
  { proxy: settings, signal }: { proxy: ProxySettings | undefined; signal: AbortSignal },
): Route {
  // Certificates are checked even where the environment asks Node not to.
  const connect = { timeout: connectTimeoutMs, rejectUnauthorized: true, signal };
  const variable = baseUrl.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const proxyUrl = (variable === 'HTTPS_PROXY' ? settings?.httpsProxy : settings?.httpProxy) ?? null;
  const proxy = proxyUrl === null ? null : new URL(proxyUrl);
  if (proxyUrl === null || proxy === null || (isLoopback(baseUrl.hostname) && !isLoopback(proxy.hostname))) {
    return { dispatcher: new Agent({ connect }), proxy: null };
  }
  const dispatcher = new EnvHttpProxyAgent({
    // All three are given, even empty: what is left out would be read from the environment of the process.
    httpProxy: proxyUrl,
    httpsProxy: proxyUrl,
    noProxy: settings?.noProxy ?? '',
    connect,
    proxyTls: connect,
    requestTls: connect,
    // Bounds the proxy's own answer, for which the limits of an attempt come too late: it is part of connecting.
    clientFactory: (origin, options) => new Pool(origin, { ...options, headersTimeout: connectTimeoutMs }),
  });
  const port = proxy.port === '' ? (proxy.protocol === 'https:' ? '443' : '80') : proxy.port;
  const hop = { place: `${proxy.hostname}:${port}`, hasCredentials: proxy.username !== '', variable } as const;
  return { dispatcher, proxy: hop };
}
