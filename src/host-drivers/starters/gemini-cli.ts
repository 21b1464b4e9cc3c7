import { join } from 'node:path';
import type { HostStarter } from '../driver.ts';

/** Gemini CLI, as 0.61.0 was measured. */
export const geminiCliStarter: HostStarter = {
  id: 'gemini-cli',
  program: 'gemini',
  start: ({ home, servers, provider, model, prompt }) => {
    const settings = {
      security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: false } },
      privacy: { usageStatisticsEnabled: false },
      general: { disableAutoUpdate: true, disableUpdateNag: true },
      mcpServers: Object.fromEntries(
        servers.map(({ name, command: [command, ...args] }) => [name, { command, args, trust: true }]),
      ),
    };
    return {
      files: new Map([[join(home, '.gemini/settings.json'), JSON.stringify(settings)]]),
      args: ['-m', model, '--output-format', 'stream-json', '-p', prompt],
      env: {
        GEMINI_API_KEY: provider.token,
        GOOGLE_GEMINI_BASE_URL: provider.url,
        GEMINI_CLI_NO_RELAUNCH: 'true',
        GEMINI_CLI_TRUST_WORKSPACE: 'true',
      },
    };
  },
};
