import { join } from 'node:path';
import { type HostAdapter, key } from '../adapter.ts';
import { serverName } from '../probe.ts';

export const adapter: HostAdapter = {
  id: 'qwen-code',
  package: '@qwen-code/qwen-code',
  model: 'probe-model',
  start: ({ installed, port, model, server, prompt }) => ({
    argv: [
      process.execPath,
      join(installed, 'node_modules/@qwen-code/qwen-code/cli.js'),
      ...['-m', model, '--output-format', 'stream-json', '-p', prompt],
    ],
    env: {
      OPENAI_API_KEY: key,
      OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`,
      OPENAI_MODEL: model,
      QWEN_CODE_NO_RELAUNCH: 'true',
    },
    files: {
      '.qwen/settings.json': JSON.stringify({
        security: { auth: { selectedType: 'openai' }, folderTrust: { enabled: false } },
        privacy: { usageStatisticsEnabled: false },
        general: { disableAutoUpdate: true, disableUpdateNag: true },
        mcpServers: { [serverName]: { ...server, trust: true } },
      }),
    },
  }),
};
