/** Header fields in their original order; a name may occur more than once. */
export type HeaderList = readonly (readonly [name: string, value: string])[];

/** RFC 9110 §5.6.2, token. */
const namePattern = /^[!#$%&'*+.^_`|~\dA-Za-z-]+$/;
/** RFC 9110 §5.5, field-value: no line breaks and no other control characters but the tab. */
const valuePattern = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Checks if a value from the wire can be sent on as header fields. */
export function isHeaderList(value: unknown): value is HeaderList {
  return Array.isArray(value) && value.every(isHeader);
}

function isHeader(value: unknown): boolean {
  if (!Array.isArray(value) || value.length !== 2) return false;
  const [name, text]: unknown[] = value;
  return typeof name === 'string' && typeof text === 'string' && namePattern.test(name) && valuePattern.test(text);
}

/** Fields that apply to one connection only, RFC 9110 §7.6.1, so that they must not be passed on. */
const hopByHop = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Removes the hop-by-hop fields, and those that the Connection field names. */
export function dropHopByHop(headers: HeaderList): HeaderList {
  const named = new Set<string>();
  for (const [name, value] of headers) {
    if (name.toLowerCase() !== 'connection') continue;
    for (const option of value.split(',')) named.add(option.trim().toLowerCase());
  }
  return headers.filter(([name]) => {
    const key = name.toLowerCase();
    return !hopByHop.has(key) && !named.has(key);
  });
}

/** Finds the first value of a field; undefined if there is none. `name` is in lower case. */
export function findHeader(headers: HeaderList, name: string): string | undefined {
  return headers.find(([other]) => other.toLowerCase() === name)?.[1];
}

/** Pairs the names and values of the flat list that HTTP parsers return. */
export function pairHeaders(raw: readonly string[]): HeaderList {
  return Array.from(
    { length: raw.length >> 1 },
    (_, index) => [raw[index * 2] ?? '', raw[index * 2 + 1] ?? ''] as const,
  );
}
