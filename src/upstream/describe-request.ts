import { isRecord, printCanonicalJson } from '../base/json.ts';
import { unescapePointerToken } from '../base/json-pointer.ts';
import { describeBody, joinLines, splitLines, type WrittenBody } from './body.ts';
import type { UpstreamRequest } from './exchange.ts';
import { decodePart, type Hiding, hideInJson, hideInText, hideNamed, isForm } from './hidden-values.ts';
import type { WrittenRequest } from './recording.ts';

/** Which parts of requests decide if a recorded answer fits. */
export interface MatchSettings {
  /** The headers that are compared, in lower case; no other header is recorded. */
  headers: readonly string[];
  ignore: {
    /** Names of query parameters. */
    query: readonly string[];
    /** JSON Pointers into bodies that are JSON; `*` matches any segment. */
    body: readonly string[];
  };
}

/**
 * Describes a request as a recording holds it: without secrets and without what the settings ignore, the query sorted by name. The same
 * request has the same description on the machine that records and in CI.
 */
export function describeRequest(request: UpstreamRequest, settings: MatchSettings, hiding: Hiding): WrittenRequest {
  const headers = settings.headers.flatMap((name) => {
    const value = request.headers[name];
    return value === undefined ? [] : [[name, hideNamed(name, value, hiding)] as const];
  });
  const body = hideBody(describeRequestBody(request), settings, hiding);
  return {
    method: request.method,
    url: hiding.hide(describeUrl(request.url, settings, hiding)),
    ...(headers.length > 0 && { headers: Object.fromEntries(headers) }),
    ...(body !== null && { body }),
  };
}

/** Prints what decides if two requests are the same. */
export function keyRequest({ method, url, headers, body }: WrittenRequest): string {
  return printCanonicalJson([method, url, headers ?? {}, body ?? null]);
}

/** Describes a recorded request by the settings of today: what was recorded may be ignored by now. */
export function renewRequest(request: WrittenRequest, { headers, ignore }: MatchSettings): WrittenRequest {
  const [address = '', query] = request.url.split('?', 2);
  const pairs = (query ?? '').split('&').filter((pair) => pair !== '');
  const kept = pairs.filter((pair) => !ignore.query.includes(decodePart(pair.split('=', 1)[0] ?? '')));
  const named = Object.entries(request.headers ?? {}).filter(([name]) => headers.includes(name));
  const body = request.body === undefined ? null : dropIgnored(request.body, ignore.body);
  return {
    method: request.method,
    url: kept.length === 0 ? address : `${address}?${kept.join('&')}`,
    ...(named.length > 0 && { headers: Object.fromEntries(named) }),
    ...(body !== null && { body }),
  };
}

function describeUrl({ protocol, host, pathname, searchParams }: URL, { ignore }: MatchSettings, hiding: Hiding) {
  const pairs = [...searchParams]
    .filter(([name]) => !ignore.query.includes(name))
    .map(([name, value]) => [name, hideNamed(name, value, hiding)] as const)
    // Sorted by name only: the order of the values of one name may matter.
    .toSorted(([a], [b]) => (a === b ? 0 : a < b ? -1 : 1));
  const query = pairs.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&');
  return `${protocol}//${host}${pathname}${query === '' ? '' : `?${query}`}`;
}

/** Encodes only what would change the meaning of a query, so that a reviewer can read it. */
function encode(text: string): string {
  return text.replaceAll(/[%&#+=?\s\p{Cc}]/gu, (character) => encodeURIComponent(character));
}

function describeRequestBody({ headers, body }: UpstreamRequest): WrittenBody | null {
  const type = headers['content-type'] ?? '';
  const boundary = /^multipart\/.*\bboundary="?([^";]+)/i.exec(type)?.[1];
  if (boundary === undefined) return describeBody(body, type);
  // Clients choose the boundary at random.
  const bytes = Buffer.from(body.toString('latin1').replaceAll(boundary, 'boundary'), 'latin1');
  return describeBody(bytes, type);
}

function hideBody(body: WrittenBody | null, { ignore }: MatchSettings, hiding: Hiding): WrittenBody | null {
  if (body === null || 'base64' in body) return body;
  if ('json' in body) {
    const kept = dropIgnored(body, ignore.body);
    return kept !== null && 'json' in kept ? { json: hideInJson(kept.json, hiding) } : kept;
  }
  const text = hideInText(joinLines(body.text), hiding);
  return { text: splitLines(isForm(text) ? text.split('&').toSorted().join('&') : text) };
}

function dropIgnored(body: WrittenBody, pointers: readonly string[]): WrittenBody | null {
  if (!('json' in body)) return body;
  const json = pointers
    .map((pointer) => pointer.split('/').slice(1).map(unescapePointerToken))
    .reduce((value: unknown, segments) => dropMember(value, segments), body.json);
  return json === undefined ? null : { json };
}

function dropMember(value: unknown, [segment, ...rest]: readonly string[]): unknown {
  if (segment === undefined) return undefined;
  const isMeant = (name: string) => segment === '*' || segment === name;
  if (Array.isArray(value)) {
    const items = value.map((item: unknown, index) => (isMeant(String(index)) ? dropMember(item, rest) : item));
    return items.filter((item) => item !== undefined);
  }
  if (!isRecord(value)) return value;
  const members = Object.entries(value).map(([name, member]): [string, unknown] => [
    name,
    isMeant(name) ? dropMember(member, rest) : member,
  ]);
  return Object.fromEntries(members.filter(([, member]) => member !== undefined));
}
