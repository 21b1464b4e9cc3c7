import type { FetchLike } from '@modelcontextprotocol/client';
import { EnvHttpProxyAgent, fetch } from 'undici';
import type { ProxySettings } from '../base/proxy.ts';

/** A fetch for URLs outside this machine, through the proxies that the job demands. Disposing it ends its connections. */
export interface PublicFetch extends AsyncDisposable {
  readonly fetch: FetchLike;
}

const connect = { timeout: 10_000, rejectUnauthorized: true };

export function openPublicFetch({ httpProxy, httpsProxy, noProxy }: ProxySettings): PublicFetch {
  // Empty and not absent, since the agent would read the process's own variables instead.
  const agent = new EnvHttpProxyAgent({
    httpProxy: httpProxy ?? '',
    httpsProxy: httpsProxy ?? '',
    noProxy: noProxy ?? '',
    connect,
    requestTls: connect,
  });
  return {
    fetch: (url, init = {}) =>
      fetch(url, {
        method: init.method ?? 'GET',
        headers: [...new Headers(init.headers)],
        body: typeof init.body === 'string' ? init.body : null,
        signal: init.signal ?? null,
        redirect: init.redirect ?? 'follow',
        dispatcher: agent,
      }),
    [Symbol.asyncDispose]: () => agent.destroy(),
  };
}
