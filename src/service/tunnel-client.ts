import { Secret } from '../base/redaction.ts';
import { callOperation } from './call-operation.ts';
import type { CallOptions, ServiceClient } from './client.ts';
import { tunnelOperations } from './operations/tunnels.ts';
import type { WireTunnelGrant } from './wire.ts';

/** A tunnel that the service granted: a server record whose public URL leads to the holder of the token. */
export interface TunnelGrant {
  serverId: string;
  name: string;
  /** True if the project already had a server of that name. Its URL and transport are now those of the tunnel. */
  existed: boolean;
  /** The earlier URL of the record, if it was another one. It may contain a secret. */
  previousUrl: Secret | null;
  previousTransportType: string | null;
  slug: string | null;
  /** The public URL. Its query contains a secret. */
  url: Secret;
  connectToken: Secret;
  connectTokenExpiresAtMs: number | null;
  relayWsUrl: string;
  /** The number of grants of the server. */
  secretVersion: number | null;
  /** All secrets of the grant, for a redactor. */
  secrets: readonly Secret[];
}

/**
 * Creates a tunnel under a server name, or another grant for an existing one, which disconnects the holder of the earlier grant. Call it
 * while this job has no connection, so that a repeated request disconnects no other job.
 *
 * @throws {ConfigurationError} when the service refuses it permanently
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
