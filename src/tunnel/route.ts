import { Agent } from 'node:https';
import { ConfigurationError } from '../base/errors.ts';
import { chooseProxy, type ProxySettings } from '../http/proxy.ts';
import { isProtected } from '../http/url.ts';

/** @throws {ConfigurationError} unless the address is wss, or ws on this machine; its text is never quoted */
export function checkRelayUrl(text: string): void {
  const url = URL.parse(text);
  if (url !== null && url.hash === '' && url.username === '' && url.password === '') {
    if (/^wss?:$/.test(url.protocol) && isProtected(url)) return;
  }
  const message = 'the service granted a tunnel whose relay address is not wss:, which alone protects its token';
  throw new ConfigurationError([{ code: 'invalid-relay-url', message }]);
}

/**
 * Makes the connection to a relay, through the proxy that the settings name for it: with a CONNECT, so that TLS has no other
 * ends than the relay and this process. Undefined where no proxy is on the way.
 */
export function createRelayAgent(relayWsUrl: string, proxy: ProxySettings | undefined): Agent | undefined {
  const relay = new URL(relayWsUrl);
  const chosen = relay.protocol === 'wss:' ? chooseProxy(relay, proxy) : null;
  if (chosen === null) return undefined;
  return new Agent({ proxyEnv: { HTTPS_PROXY: chosen.href, NO_PROXY: proxy?.noProxy ?? '' } });
}
