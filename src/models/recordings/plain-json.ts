import { hash } from 'node:crypto';
import { isRecord, printCanonicalJson } from '../../base/json.ts';
import type { Redactor } from '../../base/redaction.ts';

/** The first 128 bits of SHA-256: enough that no two values of a repository share them. */
const fingerprintLength = 32;

/** Equal for JSON values that differ in the order of keys at most. */
export function fingerprintJson(value: unknown): string {
  return fingerprintText(printCanonicalJson(value));
}

export function fingerprintText(text: string): string {
  return hash('sha256', text).slice(0, fingerprintLength);
}

/**
 * Returns what a provider sends as JSON, without secrets: bytes in base64, URLs as text. Numbers that are secrets become text too, and
 * keys that redaction makes equal stay apart.
 *
 * @throws {TypeError} for a value that JSON would lose, such as a Map
 */
export function toPlainJson(value: unknown, redactor: Redactor): unknown {
  if (typeof value === 'string') return redactor.redact(value);
  if (typeof value === 'number') {
    const text = JSON.stringify(value);
    const clean = redactor.redact(text);
    return clean === text ? value : clean;
  }
  if (value === null || value === undefined || typeof value === 'boolean') return value;
  if (Array.isArray(value)) return value.map((item) => toPlainJson(item, redactor));
  if (value instanceof Uint8Array) return redactor.redact(Buffer.from(value).toString('base64'));
  if (value instanceof URL) return redactor.redact(value.href);
  return redactMembers(value, redactor);
}

/** The same for the members of an object, without those that are undefined. */
export function redactMembers(value: unknown, redactor: Redactor): Record<string, unknown> {
  const prototype: unknown = isRecord(value) ? Object.getPrototypeOf(value) : undefined;
  if (!isRecord(value) || (prototype !== null && prototype !== Object.prototype)) {
    throw new TypeError('What is sent to a model must be JSON.');
  }
  const plain = new Map<string, unknown>();
  for (const [key, member] of Object.entries(value)) {
    if (member === undefined) continue;
    let name = redactor.redact(key);
    while (plain.has(name)) name += '*';
    plain.set(name, toPlainJson(member, redactor));
  }
  return Object.fromEntries(plain);
}
