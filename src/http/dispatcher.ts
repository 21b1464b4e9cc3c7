import { Agent, type Dispatcher, EnvHttpProxyAgent, Pool } from 'undici';
import { chooseProxy, describeProxyHop, type ProxyHop, type ProxySettings } from './proxy.ts';

const connectTimeoutMs = 10_000;

/** How requests reach a service. */
export interface Route {
  dispatcher: Dispatcher;
  /** Null where no proxy is set for its scheme. NO_PROXY may still lead around one that is. */
  proxy: ProxyHop | null;
}

export interface RouteOptions {
  proxy: ProxySettings | undefined;
  /** Ends all connections, those too that do not stand yet, for which the dispatcher itself would wait. */
  signal?: AbortSignal;
  /** Of the body of one response. */
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
  // Certificates are checked even where the environment asks Node not to.
  const connect = { timeout: connectTimeoutMs, rejectUnauthorized: true, ...(signal === undefined ? {} : { signal }) };
  return { connect, ...(maxResponseBytes === undefined ? {} : { maxResponseSize: maxResponseBytes }) };
}

function openProxyAgent({ httpProxy, httpsProxy, noProxy }: ProxySettings, limits: Limits): EnvHttpProxyAgent {
  const options = buildAgentOptions(limits);
  return new EnvHttpProxyAgent({
    ...options,
    // All three are given, even empty: what is left out would be read from the environment of the process.
    httpProxy: httpProxy ?? '',
    httpsProxy: httpsProxy ?? '',
    noProxy: noProxy ?? '',
    proxyTls: options.connect,
    requestTls: options.connect,
    // Bounds the proxy's own answer, for which the limits of an attempt come too late: it is part of connecting.
    clientFactory: (origin, pool) => new Pool(origin, { ...pool, headersTimeout: connectTimeoutMs }),
  });
}
