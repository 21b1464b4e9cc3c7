import { hash } from 'node:crypto';
import { isRecord, printCanonicalJson } from '../../base/json.ts';
import type { Redactor } from '../../base/redaction.ts';

/** The first 128 bits of SHA-256: enough that no two values of a repository share them. */
const fingerprintLength = 32;

/** Returns the same fingerprint for JSON values that differ only in the order of keys. */
export function fingerprintJson(value: unknown): string {
  return fingerprintText(printCanonicalJson(value));
}

export function fingerprintText(text: string): string {
  return hash('sha256', text).slice(0, fingerprintLength);
}

/**
 * Returns a value of a provider as JSON without secrets: bytes as Base64, URLs as text. A number that is a secret becomes text, and keys
 * that become equal by redaction stay distinct.
 *
 * @throws {TypeError} for a value that JSON cannot represent, such as a Map
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

/** Does the same for the members of an object, and drops undefined members. */
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
