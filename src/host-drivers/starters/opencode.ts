import { join } from 'node:path';
import type { HostStarter } from '../driver.ts';

/** opencode, as 1.18.33 was measured. */
export const opencodeStarter: HostStarter = {
  id: 'opencode',
  program: 'opencode',
  start: ({ home, servers, provider, model, prompt }) => {
    const name = `gate/${model}`;
    const known = {
      name: model,
      limit: { context: 1_000_000, output: 10_000 },
      attachment: true,
      modalities: { input: ['text', 'image'], output: ['text'] },
    };
    const config = {
      model: name,
      small_model: name,
      autoupdate: false,
      share: 'disabled',
      provider: {
        gate: {
          npm: '@ai-sdk/openai-compatible',
          name: 'gate',
          options: { baseURL: `${provider.url}/v1`, apiKey: '{env:GATE_API_KEY}' },
          models: { [model]: known },
        },
      },
      mcp: Object.fromEntries(
        servers.map(({ name: server, command }) => [server, { type: 'local', command, enabled: true }]),
      ),
    };
    return {
      files: new Map([[join(home, '.config/opencode/opencode.json'), JSON.stringify(config)]]),
      args: ['run', '--format', 'json', '--title', 'gate', prompt],
      env: {
        GATE_API_KEY: provider.token,
        OPENCODE_CONFIG: join(home, '.config/opencode/opencode.json'),
        OPENCODE_DISABLE_AUTOUPDATE: 'true',
        OPENCODE_DISABLE_MODELS_FETCH: 'true',
      },
    };
  },
};
