import { ConfigurationError } from '../base/errors.ts';
import { isLoopback } from '../base/loopback.ts';
import type { Secret } from '../base/redaction.ts';

/**
 * Reads the base URL of a service. Its text is never quoted in errors as a whole: it may hold credentials.
 *
 * @throws {ConfigurationError} unless it is https, or http to this machine, without credentials, query or fragment
 */
export function parseBaseUrl(text: string): URL {
  if (!URL.canParse(text)) throw invalidBaseUrl('The base URL is not a URL; write it like https://host/api/v1.');
  const url = new URL(text);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback(url.hostname))) {
    throw invalidBaseUrl(`The base URL starts with ${url.protocol}//${url.hostname}; only https protects the API key.`);
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw invalidBaseUrl('The base URL has a user, password, query or fragment; leave them out.');
  }
  url.pathname = url.pathname.replace(/\/+$/, '');
  return url;
}

function invalidBaseUrl(message: string): ConfigurationError {
  return new ConfigurationError([{ code: 'invalid-base-url', input: 'base-url', message }]);
}

/**
 * Reads the key as it goes into a header. HTTP clients quote a header that they refuse, so it is checked here.
 *
 * @throws {ConfigurationError} when it is empty or has a space, a line break or anything else outside ASCII's print
 */
export function parseApiKey(apiKey: Secret): string {
  const key = apiKey.reveal();
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  const message =
    key === '' ? 'The API key is empty.' : 'The API key has a space, a line break or another character no key has.';
  throw new ConfigurationError([{ code: 'invalid-api-key', input: 'api-key', message }]);
}

/** Builds the URL of a call; every segment is encoded, so an id cannot choose another path. */
export function buildUrl(
  baseUrl: URL,
  path: readonly string[],
  query: Readonly<Record<string, string | number | undefined>> = {},
): URL {
  for (const segment of path) {
    // URL parsing drops these segments, and the one before them, even when they are encoded.
    if (segment === '' || segment === '.' || segment === '..') {
      const message = `${JSON.stringify(segment)} cannot be an id.`;
      throw new ConfigurationError([{ code: 'invalid-id', message }]);
    }
  }
  const url = new URL(baseUrl);
  url.pathname = [
    baseUrl.pathname.replace(/\/$/, ''),
    ...path.map((segment) => encodeURIComponent(segment.toWellFormed())),
  ].join('/');
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) url.searchParams.set(name, String(value));
  }
  return url;
}
