import { join } from 'node:path';
import { type HostAdapter, key } from '../adapter.ts';
import { serverName } from '../probe.ts';

export const adapter: HostAdapter = {
  id: 'opencode',
  package: 'opencode-ai',
  model: 'probe-model',
  start: ({ installed, port, model, server, prompt }) => ({
    argv: [
      join(installed, `node_modules/opencode-${process.platform}-${process.arch}/bin/opencode`),
      ...['run', '--format', 'json', '--title', 'probe', prompt],
    ],
    env: { OPENCODE_DISABLE_AUTOUPDATE: 'true', OPENCODE_DISABLE_MODELS_FETCH: 'true' },
    files: {
      '.config/opencode/opencode.json': JSON.stringify({
        model: `probe/${model}`,
        small_model: `probe/${model}`,
        autoupdate: false,
        share: 'disabled',
        provider: {
          probe: {
            npm: '@ai-sdk/openai-compatible',
            name: 'probe',
            options: { baseURL: `http://127.0.0.1:${port}/v1`, apiKey: key },
            models: {
              [model]: {
                name: model,
                limit: { context: 1_000_000, output: 10_000 },
                attachment: true,
                modalities: { input: ['text', 'image'], output: ['text'] },
              },
            },
          },
        },
        mcp: { [serverName]: { type: 'local', command: [server.command, ...server.args], enabled: true } },
      }),
    },
  }),
};
