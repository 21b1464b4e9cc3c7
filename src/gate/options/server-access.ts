import { z } from 'zod';
import { Secret } from '../../base/redaction.ts';
import { parseHeaderLines } from '../../base/written-headers.ts';
import { issue, lines, withForm, writePairs } from './values.ts';

const parsedHeaders = lines.transform((entries, context) => {
  const { values, problems } = parseHeaderLines(entries);
  for (const { line, problem } of problems) context.addIssue(issue(`line ${line} ${problem}`));
  return new Map([...values].map(([name, value]) => [name, new Secret(value)]));
});

/** Parses headers, one `Name: value` per line. Never quotes an entry, which may be the secret. */
export const headers = withForm(parsedHeaders, {
  hint: '<Name: value>',
  isList: true,
  secret: ':',
  write: (value) => writePairs(': ', value),
});

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
