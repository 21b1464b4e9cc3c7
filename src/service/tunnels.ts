import { Secret } from '../base/redaction.ts';
import type { CallOptions, ServiceClient } from './client.ts';
import { parseAs } from './parse.ts';
import { fillPath, tunnelClosePath, tunnelsPath } from './paths.ts';
import { tunnelClosedSchema, tunnelGrantSchema, type WireTunnelGrant } from './wire.ts';

/** A tunnel that the service granted: a server record whose public URL leads to the holder of the token. */
export interface TunnelGrant {
  serverId: string;
  name: string;
  /** Whether the project had a server of that name, whose URL and transport are these no more. */
  existed: boolean;
  /** Where the record led before, if that was another place. It may hold a secret of its own. */
  previousUrl: Secret | null;
  previousTransportType: string | null;
  slug: string | null;
  /** The public URL, whose query holds a secret. */
  url: Secret;
  connectToken: Secret;
  connectTokenExpiresAtMs: number | null;
  relayWsUrl: string;
  /** Counts the grants of the server. */
  secretVersion: number | null;
  /** Everything in it that must not be shown, for a redactor. */
  secrets: readonly Secret[];
}

const parseWireGrant = parseAs(tunnelGrantSchema, 'the grant of a tunnel');
const parseClosed = parseAs(tunnelClosedSchema, 'the receipt of a closed tunnel');

/**
 * Creates a tunnel under a server name, or another grant for the one that exists: this cuts off
 * the holder of the earlier grant. Call it while this job has no connection, so that a repeated request cuts off no other job.
 *
 * @throws {ConfigurationError} when the service refuses it for good
 */
export async function createTunnel(
  client: ServiceClient,
  params: { projectId: string; name: string } & CallOptions,
): Promise<TunnelGrant> {
  const { name } = params;
  const path = fillPath(tunnelsPath, params);
  const parse = (answer: unknown) => toGrant(parseWireGrant(answer), name);
  const kind = { isSlow: true, isSetup: true, isRepeatable: true };
  return client.call({ method: 'POST', path, body: { name }, ...kind, parse, ...params });
}

/** Closes a tunnel; its server record stays, with a URL that leads nowhere. Closing it twice does no harm. */
export async function closeTunnel(
  client: ServiceClient,
  params: { projectId: string; serverId: string } & CallOptions,
): Promise<void> {
  const path = fillPath(tunnelClosePath, params);
  await client.call({ method: 'POST', path, isRepeatable: true, priority: 'high', parse: parseClosed, ...params });
}

function toGrant(grant: WireTunnelGrant, name: string): TunnelGrant {
  const url = new Secret(grant.url);
  const connectToken = new Secret(grant.connectToken);
  const previousUrl = grant.previousUrl == null ? null : new Secret(grant.previousUrl);
  const keys = new URL(grant.url).searchParams.getAll('k').map((key) => new Secret(key));
  return {
    serverId: grant.serverId,
    name: grant.name ?? name,
    existed: grant.existed ?? false,
    previousUrl,
    previousTransportType: grant.previousTransportType ?? null,
    slug: grant.slug ?? null,
    url,
    connectToken,
    connectTokenExpiresAtMs: grant.connectTokenExpiresAt ?? null,
    relayWsUrl: grant.relayWsUrl,
    secretVersion: grant.secretVersion ?? null,
    secrets: [url, connectToken, ...keys, ...(previousUrl === null ? [] : [previousUrl])],
  };
}
