/** Names per RFC 9110 §5.1 and §5.6.2, and values that cannot become another header. */
const headerName = /^[!#$%&'*+.^_`|~\dA-Za-z-]+$/;
const headerValue = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/;

/** Headers that the gate sets, or that HTTP sets for each connection. */
const ownHeader =
  /^(?:accept|connection|content-.*|expect|host|keep-alive|last-event-id|mcp-.*|origin|te|trailer|transfer-encoding|upgrade)$/;

/** Explains why a header cannot be sent, as the end of a sentence; null if it can. */
export function findHeaderProblem(name: string, value: string): string | null {
  if (!headerName.test(name)) return 'has a name that no header can have';
  if (!headerValue.test(value)) return 'has no value, or one with characters that no header can have';
  return ownHeader.test(name.toLowerCase()) ? 'has a header that the gate sets itself' : null;
}

/**
 * Parses headers, each as `Name: value`; blank lines are skipped. Names are in lower case. A problem completes a sentence about the line with this number; it never
 * quotes the line, which may be the secret.
 */
export function parseHeaderLines(lines: readonly string[]): {
  values: ReadonlyMap<string, string>;
  problems: ReadonlyArray<{ line: number; problem: string }>;
} {
  const values = new Map<string, string>();
  const problems: Array<{ line: number; problem: string }> = [];
  for (const [index, entry] of lines.entries()) {
    if (entry.trim() === '') continue;
    const colon = entry.indexOf(':');
    const name = entry.slice(0, Math.max(colon, 0)).trim().toLowerCase();
    const value = entry.slice(colon + 1).trim();
    const problem = headerName.test(name) ? findHeaderProblem(name, value) : 'is not Name: value';
    if (problem !== null) problems.push({ line: index + 1, problem });
    else if (values.has(name)) problems.push({ line: index + 1, problem: 'has a header that an earlier line has' });
    else values.set(name, value);
  }
  return { values, problems };
}
