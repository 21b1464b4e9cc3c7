import { ConfigurationError } from '../../../../src/base/errors.ts';
import { type Redactor, Secret } from '../../../../src/base/redaction.ts';
import { systemClock } from '../../../../src/base/time.ts';
import { readProxySettings } from '../../../../src/http/proxy.ts';
import { isLoopback } from '../../../../src/http/url.ts';
import { openServiceClient, type ServiceClient } from '../../../../src/service/client.ts';
import { serviceProfiles } from '../../../../src/service/profile.ts';
import type { CalledService } from './service-flag.ts';
import { createTerminalLogger } from '../../../../src/cli/command-logger.ts';

/** Opens a client of the service that the flags name. Logs to stderr. @throws {ConfigurationError} if a flag is missing */
export function openServiceOfFlags({
  service,
  texts,
  isPublic = false,
  redactor,
  signal,
}: {
  service: CalledService;
  /** The address, key and project, by the names of the gate's options; empty for a flag that is not given. */
  texts: Readonly<Record<string, string>>;
  /** True if the operation works without a key. */
  isPublic?: boolean;
  redactor: Redactor;
  signal: AbortSignal;
}): ServiceClient {
  const { stderr } = process;
  const hosted = serviceProfiles[service];
  const baseUrl = texts['base-url'] || hosted.defaultBaseUrl;
  if (baseUrl === null) {
    const message = 'is required unless --service is mcpjam; `mcp-eval-ci serve` prints that of a service of your own';
    throw new ConfigurationError([{ input: 'base-url', code: 'missing-base-url', message }]);
  }
  const apiKey = texts['api-key'] ?? '';
  if (apiKey === '' && !isPublic) {
    const message = 'is required; set MCP_EVAL_API_KEY';
    throw new ConfigurationError([{ input: 'api-key', code: 'missing-api-key', message }]);
  }
  // A local service limits requests itself if it has a limit.
  const isLocal = isLoopback(URL.parse(baseUrl)?.hostname ?? '');
  if (apiKey !== '') redactor.add(new Secret(apiKey));
  return openServiceClient({
    baseUrl,
    apiKey: new Secret(apiKey === '' ? 'none' : apiKey),
    profile: isLocal ? { ...hosted, pacing: null } : hosted,
    clock: systemClock,
    logger: createTerminalLogger({
      write: (text) => stderr.write(text),
      redactor,
      color: stderr.hasColors?.() ?? false,
      isQuiet: false,
      isVerbose: false,
    }),
    signal,
    proxy: readProxySettings(process.env),
  });
}
