import { systemClock } from '../../../src/base/time.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { Secret } from '../../../src/base/redaction.ts';
import type { EmbeddedOptions } from '../../../packages/eval-service/src/open-service.ts';
import { openServiceClient } from '../../../src/service/client.ts';
import { serviceProfiles } from '../../../src/service/profile.ts';
import { createTunnel, type TunnelGrant } from '../../../src/service/tunnel-client.ts';
import { openTunnelHost, type TunnelHost, type TunnelHostOptions } from '../../../src/tunnel/host.ts';
import { openContractService, type ContractService } from '../service/contract-service.ts';

/** A service with a granted tunnel and, unless it was left out, a host that leads to the target. */
export interface TunnelPath extends AsyncDisposable {
  service: ContractService;
  grant: TunnelGrant;
  host: TunnelHost | null;
  publicUrl: string;
  createGrant: (name?: string) => Promise<TunnelGrant>;
  openHost: (target: string, options?: Partial<TunnelHostOptions>) => Promise<TunnelHost>;
}

/** Opens the whole path: a real service with its relay, a grant, and a host. Without a target, there is no host. */
export async function openTunnelPath(
  target: string | null,
  options: { embedded?: Partial<EmbeddedOptions>; host?: Partial<TunnelHostOptions> } = {},
): Promise<TunnelPath> {
  const service = await openContractService(options.embedded);
  const { baseUrl, projectId } = service;
  const client = openServiceClient({
    baseUrl,
    apiKey: new Secret(service.apiKey),
    profile: serviceProfiles.embedded,
    clock: systemClock,
    logger: silentLogger,
  });
  const createGrant = (name = 'demo') => createTunnel(client, { projectId, name });
  const grant = await createGrant();
  const hosts: TunnelHost[] = [];
  const openHost = async (url: string, overrides: Partial<TunnelHostOptions> = {}) => {
    const host = await openTunnelHost({
      ...grant,
      subprotocol: 'svc-tunnel.v1',
      target: { url },
      clock: systemClock,
      logger: silentLogger,
      signal: new AbortController().signal,
      drainTimeoutMs: 0,
      ...overrides,
    });
    hosts.push(host);
    return host;
  };
  return {
    service,
    grant,
    publicUrl: grant.url.reveal(),
    host: target === null ? null : await openHost(target, options.host),
    createGrant,
    openHost,
    [Symbol.asyncDispose]: async () => {
      for (const host of hosts) await host[Symbol.asyncDispose]();
      await client[Symbol.asyncDispose]();
      await service[Symbol.asyncDispose]();
    },
  };
}
