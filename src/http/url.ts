import { ConfigurationError } from '../base/errors.ts';
import type { Secret } from '../base/redaction.ts';

/** Checks if a URL's hostname is this machine. URL parsing has already normalized every spelling of an IPv4 address. */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d+){3}$/.test(hostname);
}

/** Checks if data sent to an http or WebSocket URL stays secret on its way: over TLS, or on this machine. */
export function isProtected({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || protocol === 'wss:' || (/^(?:http|ws):$/.test(protocol) && isLoopback(hostname));
}

/** Checks if a URL has credentials, a query or a fragment in addition to its origin and path. */
export function hasMoreThanPath({ username, password, search, hash }: URL): boolean {
  return username !== '' || password !== '' || search !== '' || hash !== '';
}

/** Checks if a key or token can go into a header unchanged. Call it first: HTTP clients quote a header that they refuse. */
export function isHeaderSafe(token: string): boolean {
  return /^[\x21-\x7e]+$/.test(token);
}

/**
 * Reads the base URL of a service. Errors never quote the whole text, since it may hold credentials.
 *
 * @throws {ConfigurationError} unless it is https, or http to this machine, without credentials, query or fragment
 */
export function parseBaseUrl(text: string): URL {
  if (!URL.canParse(text)) throw invalidBaseUrl('The base URL is not a URL; write it like https://host/api/v1.');
  const url = new URL(text);
  if (!/^https?:$/.test(url.protocol) || !isProtected(url)) {
    throw invalidBaseUrl(`The base URL starts with ${url.protocol}//${url.hostname}; only https protects the API key.`);
  }
  if (hasMoreThanPath(url)) {
    throw invalidBaseUrl('The base URL has a user, password, query or fragment; leave them out.');
  }
  url.pathname = url.pathname.replace(/\/+$/, '');
  return url;
}

function invalidBaseUrl(message: string): ConfigurationError {
  return new ConfigurationError([{ code: 'invalid-base-url', input: 'base-url', message }]);
}

/**
 * Reads the key for a header.
 *
 * @throws {ConfigurationError} if it is empty or has a space, a line break or another character outside of printable ASCII
 */
export function parseApiKey(apiKey: Secret): string {
  const key = apiKey.reveal();
  if (isHeaderSafe(key)) return key;
  const message =
    key === '' ? 'The API key is empty.' : 'The API key has a space, a line break or another character no key has.';
  throw new ConfigurationError([{ code: 'invalid-api-key', input: 'api-key', message }]);
}

/** Builds the URL of a call. Every segment is encoded, so that an id cannot choose another path. */
export function buildUrl(
  baseUrl: URL,
  path: readonly string[],
  query: Readonly<Record<string, string | number | undefined>> = {},
): URL {
  for (const segment of path) {
    // URL parsing drops these segments, and the segment before `..`, even if they are encoded.
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
