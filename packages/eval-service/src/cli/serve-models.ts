import type { Logger } from '../../../../src/base/logger.ts';
import type { Redactor } from '../../../../src/base/redaction.ts';
import type { Clock } from '../../../../src/base/time.ts';
import { listProxySecrets, readProxySettings } from '../../../../src/http/proxy.ts';
import { describePackage } from '../../../../src/models/open-provider.ts';
import { createProviderSource, type ProviderSource } from '../../../../src/models/provider-source.ts';
import { readProviders } from '../../../../src/models/providers.ts';

/**
 * Opens the models of the providers whose keys are in the environment. Loads the code for providers at once, so that nothing is read from a
 * disk after the service is ready.
 *
 * @throws {ConfigurationError} if a proxy of the environment is unusable
 */
export async function openServeModels(
  environment: Readonly<Record<string, string | undefined>>,
  { clock, logger, redactor }: { clock: Clock; logger: Logger; redactor: Redactor },
): Promise<ProviderSource> {
  const proxy = readProxySettings(environment);
  for (const secret of listProxySecrets(proxy)) redactor.add(secret);
  await Promise.all([describePackage('anthropic'), describePackage('compatible')]);
  const providers = readProviders({ environment });
  return createProviderSource({ providers, proxy, clock, random: Math.random, logger, redactor });
}
