import { Option } from 'commander';
import { ConfigurationError } from '../../../../src/base/errors.ts';
import { type Redactor, Secret } from '../../../../src/base/redaction.ts';
import { systemClock } from '../../../../src/base/time.ts';
import { readProxySettings } from '../../../../src/http/proxy.ts';
import { isLoopback } from '../../../../src/http/url.ts';
import { openServiceClient, type ServiceClient } from '../../../../src/service/client.ts';
import { serviceProfiles } from '../../../../src/service/profile.ts';
import { createTerminalLogger } from '../../../../src/cli/logger.ts';

/** The services that a command can call; the one inside a process has no address. */
export type CalledService = 'svc' | 'mcpjam';

/** The flags that say where a service is and who calls it, with the names of the gate's options. */
export const serviceFlags: ReadonlySet<string> = new Set(['base-url', 'api-key', 'project']);

/** `--service`, whose service it is. */
export function createServiceOption(): Option {
  return new Option('--service <svc|mcpjam>', 'Whose service it is. [svc]')
    .choices(['svc', 'mcpjam'])
    .default('svc', undefined);
}

/** Opens a client of the service that the flags name. Its log goes to stderr. @throws {ConfigurationError} where a flag is missing */
export function openServiceOfFlags({
  service,
  texts,
  isPublic = false,
  redactor,
  signal,
}: {
  service: CalledService;
  /** By the names of `serviceFlags`; empty where one is not given. */
  texts: Readonly<Record<string, string>>;
  /** Whether it works without a key. */
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
  // A service of this machine that limits requests says so itself.
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
