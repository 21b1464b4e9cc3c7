import { Option } from 'commander';

/** The services that a command can call. A service inside a process has no address. */
export type CalledService = 'svc' | 'mcpjam';

/** Creates `--service`, which selects the service's vendor. */
export function createServiceOption(): Option {
  return new Option('--service <svc|mcpjam>', 'Whose service it is. [svc]')
    .choices(['svc', 'mcpjam'])
    .default('svc', undefined);
}
