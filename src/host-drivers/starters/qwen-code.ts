import { join } from 'node:path';
import type { HostStarter } from '../driver.ts';

/** Qwen Code, as 0.24.4 was measured. */
export const qwenCodeStarter: HostStarter = {
  id: 'qwen-code',
  program: 'qwen',
  start: ({ home, servers, provider, model, prompt }) => {
    const settings = {
      security: { auth: { selectedType: 'openai' }, folderTrust: { enabled: false } },
      privacy: { usageStatisticsEnabled: false },
      general: { disableAutoUpdate: true, disableUpdateNag: true },
      mcpServers: Object.fromEntries(
        servers.map(({ name, command: [command, ...args] }) => [name, { command, args, trust: true }]),
      ),
    };
    return {
      files: new Map([[join(home, '.qwen/settings.json'), JSON.stringify(settings)]]),
      args: ['-m', model, '--output-format', 'stream-json', '-p', prompt],
      env: {
        OPENAI_API_KEY: provider.token,
        OPENAI_BASE_URL: `${provider.url}/v1`,
        OPENAI_MODEL: model,
        QWEN_CODE_NO_RELAUNCH: 'true',
      },
    };
  },
};
