import { join } from 'node:path';
import { mapServers } from '../define-adapter.ts';
import type { HostStarter } from '../driver.ts';

/** Copilot CLI, as 1.0.102 was measured. */
export const copilotCliStarter: HostStarter = {
  id: 'copilot-cli',
  program: 'copilot',
  start: ({ home, servers, provider, model, prompt }) => {
    const config = join(home, 'mcp.json');
    const mcpServers = mapServers(servers, ({ command, args }) => ({ type: 'local', command, args, tools: ['*'] }));
    return {
      files: new Map([[config, JSON.stringify({ mcpServers })]]),
      args: [
        '-p',
        prompt,
        '--output-format',
        'json',
        '--additional-mcp-config',
        `@${config}`,
        '--disable-builtin-mcps',
        '--no-auto-update',
        ...servers.map(({ name }) => `--allow-tool=${name}`),
      ],
      env: {
        COPILOT_HOME: join(home, '.copilot'),
        COPILOT_OFFLINE: 'true',
        COPILOT_PROVIDER_BASE_URL: `${provider.url}/v1`,
        COPILOT_PROVIDER_TYPE: 'openai',
        COPILOT_PROVIDER_WIRE_API: 'completions',
        COPILOT_PROVIDER_API_KEY: provider.token,
        COPILOT_MODEL: model,
      },
    };
  },
};
