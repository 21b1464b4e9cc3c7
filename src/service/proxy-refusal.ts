import { ConfigurationError, NetworkError } from '../base/errors.ts';
import type { ProxyHop } from './route.ts';

/** The status with which a proxy refused to lead on, or undefined where something else went wrong. */
export function readProxyStatus(error: unknown): number | undefined {
  // The HTTP client reports the status in its message alone: the first for a tunnel, the second for plain http.
  const text = error instanceof Error ? error.message : '';
  const match = /^Proxy response \((\d{3})\)|^Proxy Authentication Required \((407)\)/.exec(text);
  return match === null ? undefined : Number(match[1] ?? match[2]);
}

/** Makes an error of a proxy's refusal to lead on to `target`, a `host:port`. It never holds the proxy's credentials. */
export function explainProxyRefusal(
  status: number,
  { place, hasCredentials, variable }: ProxyHop,
  target: string,
): ConfigurationError | NetworkError {
  if (status === 407) {
    const message = hasCredentials
      ? `The proxy ${place} does not take the credentials in the URL of ${variable}; correct them, percent-encoded.`
      : `The proxy ${place} wants credentials; give them in the URL of ${variable}, as http://user:password@host:port.`;
    return new ConfigurationError([{ code: 'proxy-credentials', input: variable, message }]);
  }
  const message = `The proxy ${place} answered ${status} when it was asked to connect to ${target}.`;
  return new NetworkError(message, {
    hint: 'See whether the proxy allows and reaches it, or name the host in NO_PROXY where the job reaches it directly.',
  });
}
