import { Secret } from '../base/redaction.ts';
import { callOperation } from './call-operation.ts';
import type { CallOptions, ServiceClient } from './client.ts';
import { tunnelOperations } from './operations/tunnels.ts';
import type { WireTunnelGrant } from './wire.ts';

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

/**
 * Creates a tunnel under a server name, or another grant for the one that exists: this cuts off
 * the holder of the earlier grant. Call it while this job has no connection, so that a repeated request cuts off no other job.
 *
 * @throws {ConfigurationError} when the service refuses it for good
 */
export async function createTunnel(
  client: ServiceClient,
  { projectId, name, ...options }: { projectId: string; name: string } & CallOptions,
): Promise<TunnelGrant> {
  const manner = { isSetup: true, isRepeatable: true, ...options };
  return toGrant(await callOperation(client, tunnelOperations.createTunnel, { projectId, name }, manner), name);
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
