import { hash, timingSafeEqual } from 'node:crypto';

/** Reads the token of an Authorization header; undefined if there is none. */
export function parseBearer(header: string | undefined): string | undefined {
  return /^Bearer +(\S+) *$/i.exec(header ?? '')?.[1];
}

/** SHA-256 of a text. */
export function digestText(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}

/** Compares a secret with the digest of the expected one. The time that this takes reveals neither length nor prefix. */
export function isSecretOf(presented: string, expected: Buffer): boolean {
  return timingSafeEqual(digestText(presented), expected);
}
