import { isRecord } from '../base/json.ts';

export type PointerLookup =
  | { kind: 'found'; value: unknown }
  | { kind: 'absent' }
  /** The text is no JSON Pointer at all, as opposed to one that leads nowhere. */
  | { kind: 'malformed' };

/**
 * Finds the value that a JSON Pointer names in a document: `''` is the whole of it, `/items/0/name` a part. Only own
 * members count, and an array index is written without leading zeros. RFC 6901 §3–4.
 */
export function findByPointer(document: unknown, pointer: string): PointerLookup {
  if (pointer !== '' && !pointer.startsWith('/')) return { kind: 'malformed' };
  if (/~(?![01])/.test(pointer)) return { kind: 'malformed' };
  let found: PointerLookup = { kind: 'found', value: document };
  for (const token of pointer.split('/').slice(1)) {
    // In this order, so that `~01` becomes `~1` and not `/`.
    found = findMember(found.value, token.replaceAll('~1', '/').replaceAll('~0', '~'));
    if (found.kind !== 'found') return found;
  }
  return found;
}

function findMember(value: unknown, key: string): PointerLookup {
  if (Array.isArray(value)) {
    const isIndex = /^(?:0|[1-9]\d*)$/.test(key) && Number(key) < value.length;
    return isIndex ? { kind: 'found', value: value[Number(key)] } : { kind: 'absent' };
  }
  return isRecord(value) && Object.hasOwn(value, key) ? { kind: 'found', value: value[key] } : { kind: 'absent' };
}
