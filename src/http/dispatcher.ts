import { Agent, type Dispatcher, EnvHttpProxyAgent, Pool } from 'undici';
import { chooseProxy, describeProxyHop, type ProxyHop, type ProxySettings } from './proxy.ts';

const connectTimeoutMs = 10_000;

/** The connections to a service, with the proxy on the way. */
export interface Route {
  dispatcher: Dispatcher;
  /** Null if no proxy is set for its scheme. NO_PROXY may still bypass a proxy that is set. */
  proxy: ProxyHop | null;
}

export interface RouteOptions {
  proxy: ProxySettings | undefined;
  /** Ends all connections, including those that are still opening; the dispatcher itself would wait for them. */
  signal?: AbortSignal;
  /** The limit for the body of one response. */
  maxResponseBytes?: number;
}

/** Makes the connections to a service, through the proxy that the settings name for it. */
export function openRoute(target: URL, { proxy: settings, ...limits }: RouteOptions): Route {
  const proxyUrl = chooseProxy(target, settings);
  if (proxyUrl === null) return { dispatcher: new Agent(buildAgentOptions(limits)), proxy: null };
  const { href } = proxyUrl;
  const proxies = { httpProxy: href, httpsProxy: href, noProxy: settings?.noProxy ?? null };
  return { dispatcher: openProxyAgent(proxies, limits), proxy: describeProxyHop(proxyUrl, target) };
}

/** Makes connections outside this machine, through the proxies of the job. Disposing it ends them. */
export function openProxyRoute(settings: ProxySettings): AsyncDisposable & Pick<Route, 'dispatcher'> {
  const dispatcher = openProxyAgent(settings, {});
  return { dispatcher, [Symbol.asyncDispose]: () => dispatcher.destroy() };
}

type Limits = Omit<RouteOptions, 'proxy'>;

function buildAgentOptions({ signal, maxResponseBytes }: Limits) {
  // Checks certificates even if the environment turns that off for Node.
  const connect = { timeout: connectTimeoutMs, rejectUnauthorized: true, ...(signal === undefined ? {} : { signal }) };
  return { connect, ...(maxResponseBytes === undefined ? {} : { maxResponseSize: maxResponseBytes }) };
}

function openProxyAgent({ httpProxy, httpsProxy, noProxy }: ProxySettings, limits: Limits): EnvHttpProxyAgent {
  const options = buildAgentOptions(limits);
  return new EnvHttpProxyAgent({
    ...options,
    // Passes all three, even empty ones: undici reads a missing one from the environment of the process.
    httpProxy: httpProxy ?? '',
    httpsProxy: httpsProxy ?? '',
    noProxy: noProxy ?? '',
    proxyTls: options.connect,
    requestTls: options.connect,
    // Bounds the proxy's own answer, which is part of connecting: the limits of an attempt do not apply to it yet.
    clientFactory: (origin, pool) => new Pool(origin, { ...pool, headersTimeout: connectTimeoutMs }),
  });
}
