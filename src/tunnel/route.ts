import { Agent } from 'node:https';
import { ConfigurationError } from '../base/errors.ts';
import type { ProxySettings } from '../base/proxy.ts';

/** @throws {ConfigurationError} unless the address is wss, or ws on this machine; its text is never quoted */
export function checkRelayUrl(text: string): void {
  const url = URL.parse(text);
  if (url !== null && url.hash === '' && url.username === '' && url.password === '') {
    if (url.protocol === 'wss:' || (url.protocol === 'ws:' && isLoopback(url))) return;
  }
  const message = 'the service granted a tunnel whose relay address is not wss:, which alone protects its token';
  throw new ConfigurationError([{ code: 'invalid-relay-url', message }]);
}

/**
 * Makes the connection to a relay, through the proxy that the settings name for it: with a CONNECT, so that TLS has no other
 * ends than the relay and this process. A relay on this machine is reached directly unless the proxy is here too, since
 * one elsewhere has another loopback. Undefined where no proxy is on the way.
 */
export function createRelayAgent(relayWsUrl: string, proxy: ProxySettings | undefined): Agent | undefined {
  const relay = new URL(relayWsUrl);
  const httpsProxy = proxy?.httpsProxy ?? null;
  if (relay.protocol !== 'wss:' || httpsProxy === null) return undefined;
  if (isLoopback(relay) && !isLoopback(new URL(httpsProxy))) return undefined;
  return new Agent({ proxyEnv: { HTTPS_PROXY: httpsProxy, NO_PROXY: proxy?.noProxy ?? '' } });
}

function isLoopback({ hostname }: URL): boolean {
  return /^(?:localhost|\[::1\]|127(?:\.\d+){3})$/.test(hostname);
}
