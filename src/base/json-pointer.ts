import { isRecord } from './json.ts';

/** Escapes the name of a member as a token of a JSON Pointer (RFC 6901 §3). */
export function escapePointerToken(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** Reads a token of a JSON Pointer (RFC 6901 §4). `~1` comes first, so that `~01` becomes `~1` and not `/`. */
export function unescapePointerToken(token: string): string {
  return token.replaceAll('~1', '/').replaceAll('~0', '~');
}

/**
 * Finds what a `$ref` such as `#/$defs/Mode` names within its own JSON Schema. Returns undefined for a reference to another document or
 * to an anchor, and for one that leads nowhere. RFC 6901 §6.
 */
export function resolveLocalReference(reference: unknown, document: unknown): unknown {
  if (reference === '#') return document;
  if (typeof reference !== 'string' || !reference.startsWith('#/')) return undefined;
  let found = document;
  for (const token of reference.slice(2).split('/')) {
    const name = decodeToken(token);
    if (name === null) return undefined;
    if (Array.isArray(found)) found = found[Number(name)];
    else if (isRecord(found) && Object.hasOwn(found, name)) found = found[name];
    else return undefined;
  }
  return found;
}

function decodeToken(token: string): string | null {
  try {
    return unescapePointerToken(decodeURIComponent(token));
  } catch {
    return null;
  }
}
