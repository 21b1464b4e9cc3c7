import { z } from 'zod';

const domains = z.array(z.string()).exactOptional();

/** The origins that an app declares it loads from or connects to (`_meta.ui.csp` of its resource, MCP Apps 2026-01-26). */
export const appPolicySchema = z.object({
  connectDomains: domains,
  resourceDomains: domains,
  frameDomains: domains,
  baseUriDomains: domains,
});
export type AppPolicy = z.infer<typeof appPolicySchema>;

/** Matches a host, with an optional http or ws scheme, an optional leading `*.` and an optional port. */
const origin = /^(?:(?:https?|wss?):\/\/)?(?:\*\.)?[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::\d{1,5})?$/i;

export function isOrigin(text: string): boolean {
  return origin.test(text);
}

/** Checks if an origin of a policy allows a URL. Compares the host, and the scheme and port if the origin has them. */
export function coversUrl(allowed: string, url: string): boolean {
  const target = URL.parse(url.startsWith('//') ? `https:${url}` : url);
  const [, scheme, wildcard, host, port] =
    /^(?:([a-z]+):\/\/)?(\*\.)?([^:]+)(?::(\d+))?$/i.exec(allowed.toLowerCase()) ?? [];
  if (target === null || host === undefined) return false;
  const isHost = wildcard === undefined ? target.hostname === host : target.hostname.endsWith(`.${host}`);
  // A policy for http allows https as well.
  const isScheme = scheme === undefined || target.protocol.startsWith(scheme);
  const actualPort = target.port === '' ? (target.protocol.endsWith('s:') ? '443' : '80') : target.port;
  return isHost && isScheme && (port === undefined ? target.port === '' : port === actualPort);
}

/** Lists all origins that a policy allows; drops entries that are not origins. */
export function listOrigins(policy: AppPolicy | null): string[] {
  return [...new Set(Object.values(policy ?? {}).flat())].filter(isOrigin);
}

/**
 * Builds the Content-Security-Policy under which a host shows an app. It allows only what the app declares: the "Restrictive Default" of
 * MCP Apps (2026-01-26) if the app declares nothing, else its "CSP Construction". It blocks form submission. It drops entries that are not
 * origins, so that a declaration cannot add a directive.
 */
export function composeContentSecurityPolicy(policy: AppPolicy | null): string {
  const list = (name: keyof AppPolicy) => (policy?.[name] ?? []).filter(isOrigin);
  const resources = list('resourceDomains');
  const directive = (name: string, sources: readonly string[], otherwise = `'none'`) =>
    `${name} ${sources.length === 0 ? otherwise : sources.join(' ')}`;
  return [
    `default-src 'none'`,
    directive('script-src', [`'self'`, `'unsafe-inline'`, ...resources]),
    directive('style-src', [`'self'`, `'unsafe-inline'`, ...resources]),
    directive('img-src', [`'self'`, 'data:', ...resources]),
    directive('font-src', policy === null ? [] : [`'self'`, ...resources]),
    directive('media-src', [`'self'`, 'data:', ...resources]),
    directive('connect-src', policy === null ? [] : [`'self'`, ...list('connectDomains')]),
    directive('frame-src', list('frameDomains')),
    `object-src 'none'`,
    directive('base-uri', list('baseUriDomains'), `'self'`),
    `form-action 'none'`,
  ].join('; ');
}
