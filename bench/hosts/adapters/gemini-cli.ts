import { join } from 'node:path';
import { type HostAdapter, key } from '../adapter.ts';
import { serverName } from '../probe.ts';

export const adapter: HostAdapter = {
  id: 'gemini-cli',
  package: '@google/gemini-cli',
  model: 'gemini-2.5-flash',
  models: ['gemini-3-pro-preview'],
  start: ({ installed, port, model, server, prompt }) => ({
    argv: [
      process.execPath,
      join(installed, 'node_modules/@google/gemini-cli/bundle/gemini.js'),
      ...['-m', model, '--output-format', 'stream-json', '-p', prompt],
    ],
    env: {
      GEMINI_API_KEY: key,
      GOOGLE_GEMINI_BASE_URL: `http://127.0.0.1:${port}`,
      GEMINI_CLI_NO_RELAUNCH: 'true',
      GEMINI_CLI_TRUST_WORKSPACE: 'true',
    },
    files: {
      '.gemini/settings.json': JSON.stringify({
        security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: false } },
        privacy: { usageStatisticsEnabled: false },
        general: { disableAutoUpdate: true, disableUpdateNag: true },
        mcpServers: { [serverName]: { ...server, trust: true } },
      }),
    },
  }),
};
