import { z } from 'zod';
import { Secret } from '../../base/redaction.ts';
import { issue, lines, withForm } from './values.ts';

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

const parsedHeaders = lines.transform((entries, context) => {
  const values = new Map<string, Secret>();
  for (const [index, entry] of entries.entries()) {
    const refuse = (why: string) => context.addIssue(issue(`line ${index + 1} ${why}`));
    const colon = entry.indexOf(':');
    const name = entry.slice(0, Math.max(colon, 0)).trim().toLowerCase();
    const value = entry.slice(colon + 1).trim();
    const problem = findHeaderProblem(name, value);
    if (!headerName.test(name)) refuse('is not Name: value');
    else if (problem !== null) refuse(problem);
    else if (values.has(name)) refuse('has a header that an earlier line has');
    else values.set(name, new Secret(value));
  }
  return values;
});

/** Parses headers, one `Name: value` per line. Never quotes an entry, which may be the secret. */
export const headers = withForm(parsedHeaders, { hint: '<Name: value>', isList: true, secret: ':' });

const oauthKeys = ['client-id', 'issuer', 'scope'] as const;

const parsedOauthClient = lines.transform((entries, context) => {
  if (entries.length === 0) return null;
  const values = new Map<string, string>();
  for (const [index, entry] of entries.entries()) {
    const [, key = '', value = ''] = /^([\w-]+)\s*=\s*(\S.*)$/.exec(entry) ?? [];
    if (oauthKeys.some((known) => known === key)) values.set(key, value);
    // Never quotes the entry, which may be the secret that belongs in another option.
    else context.addIssue(issue(`line ${index + 1} is not client-id=…, issuer=… or scope=…`));
  }
  const [clientId, issuer] = [values.get('client-id'), values.get('issuer')];
  if (clientId !== undefined && issuer !== undefined) return { clientId, issuer, scope: values.get('scope') ?? null };
  context.addIssue(issue('needs the lines client-id=… and issuer=…'));
  return z.NEVER;
});

/** Parses an OAuth client, one `key=value` per line; null if there is no line. */
export const oauthClient = withForm(parsedOauthClient, { hint: '<key=value>', isList: true });
