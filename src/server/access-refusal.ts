import { discoverOAuthServerInfo, extractWWWAuthenticateParams } from '@modelcontextprotocol/client';
import type { ServerStartError } from '../base/errors.ts';
import { clipText } from '../base/text.ts';
import { type Clock, startTimeLimit } from '../base/time.ts';
import type { ServerAccess } from '../mcp/access.ts';
import { createAuthFetch } from '../mcp/client-credentials.ts';

/** A response that refuses access. */
export interface AccessRefusal {
  /** 401 or 403. */
  status: number;
  /** The `WWW-Authenticate` header, as the server wrote it; null if there is none. */
  wwwAuthenticate: string | null;
  /** The server's message, without a full stop. */
  message: string;
}

/** The longest quotation of a server's text. */
const longestText = 200;

/** The time limit for the metadata of the authorization server, which only completes the message. */
const discoveryTimeoutMs = 5000;

/** The grants of one authorization server; null if it does not list them. */
interface FoundIssuer {
  issuer: string;
  grants: readonly string[] | null;
}

/**
 * Explains what a server that answers 401 or 403 requires: a header, a token, a scope. Waiting would not help, because a server that
 * refuses a request is already running.
 */
export async function explainAccessRefusal(
  url: string,
  refusal: AccessRefusal,
  {
    access,
    clock,
    signal,
    ...options
  }: {
    access: ServerAccess | null;
    clock: Clock;
    signal: AbortSignal;
    /** Makes the error from the text after the subject, and its hint. */
    create: (predicate: string, hint: string) => ServerStartError;
  },
): Promise<ServerStartError> {
  const { status, wwwAuthenticate, message } = refusal;
  const headers = new Headers(wwwAuthenticate === null ? {} : { 'www-authenticate': wwwAuthenticate });
  const challenge = extractWWWAuthenticateParams(new Response(null, { status, headers }));
  const [scheme = null] = /^[\w-]+/.exec(wwwAuthenticate ?? '') ?? [];
  const scope = challenge.scope === undefined ? '' : ` with the scope ${quote(challenge.scope)}`;
  const said = [challenge.error, challenge.errorDescription].filter((text) => text !== undefined);
  const detail =
    (scheme === null ? '' : ` It asks for ${scheme}${scope}.`) +
    (said.length === 0 ? '' : ` It says ${said.map(quote).join(': ')}.`);
  const create = (sentence: string, hint: string) => options.create(`${sentence}: ${message}.${detail}`, hint);

  if (access?.isRenewable === true) {
    return create(
      'refuses the token of `server-oauth`',
      challenge.error === 'insufficient_scope'
        ? 'Let the client have that scope at the authorization server, and name it in `server-oauth` if it is not asked for.'
        : 'Check that `issuer` in `server-oauth` is the authorization server of this server, and what it lets the client do.',
    );
  }
  if (access !== null) {
    const names = access.headerNames.join(', ');
    return create(
      `refuses the request with the headers of \`server-headers\` (${names})`,
      'Check their values: they may have expired, or be for another server.',
    );
  }
  if (status === 403 && scheme === null) {
    return create(
      'refuses the gate',
      `Have it accept the Host header ${new URL(url).host}. If it needs a header, give that in \`server-headers\`.`,
    );
  }
  return create('asks for authorization', await adviseOnHeader(url, { scheme, challenge, clock, signal }));
}

async function adviseOnHeader(
  url: string,
  {
    scheme,
    challenge: { resourceMetadataUrl },
    ...limits
  }: {
    scheme: string | null;
    challenge: { resourceMetadataUrl?: URL | undefined };
    clock: Clock;
    signal: AbortSignal;
  },
): Promise<string> {
  if (scheme === null)
    return 'Give the header that it needs in `server-headers`, such as `Authorization: Bearer …` from a secret.';
  const header = `Give \`Authorization: ${scheme} …\` from a secret in \`server-headers\``;
  const found = /^bearer$/i.test(scheme) ? await findIssuer(url, resourceMetadataUrl, limits) : null;
  if (found === null) return `${header}.`;
  const { grants } = found;
  const issuer = quote(found.issuer);
  return grants === null || grants.includes('client_credentials')
    ? `${header}, or name a client of its authorization server ${issuer} in \`server-oauth\`.`
    : `${header}: its authorization server ${issuer} offers only ${clipText(grants.join(', '), longestText)}, for which a job has no browser.`;
}

/** Requests the OAuth metadata, if the server has any. The requests carry no secret. */
async function findIssuer(
  url: string,
  metadataUrl: URL | undefined,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): Promise<FoundIssuer | null> {
  using limit = startTimeLimit(clock, { afterMs: discoveryTimeoutMs, what: 'Finding the issuer', signal });
  const { origin } = new URL(url);
  const authFetch = createAuthFetch(clock);
  try {
    const { resourceMetadata, authorizationServerMetadata: metadata } = await discoverOAuthServerInfo(url, {
      ...(metadataUrl?.origin === origin && { resourceMetadataUrl: metadataUrl }),
      fetchFn: async (target, init) => await authFetch(target, { ...init, signal: limit.signal }),
    });
    const [issuer] = resourceMetadata?.authorization_servers ?? [];
    return issuer === undefined ? null : { issuer, grants: metadata?.grant_types_supported ?? null };
  } catch {
    signal.throwIfAborted();
    return null;
  }
}

function quote(text: string): string {
  return JSON.stringify(clipText(text, longestText));
}
