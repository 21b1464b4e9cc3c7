/** Whether an HTTP header can carry the text as a bearer token (RFC 6750 §2.1). */
export function isBearerToken(text: string): boolean {
  return /^[\w.~+/-]+=*$/.test(text);
}
