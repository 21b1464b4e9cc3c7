import { join } from 'node:path';
import type { HostStarter } from '../driver.ts';

/** goose, as 1.52.0 was measured. */
export const gooseStarter: HostStarter = {
  id: 'goose',
  program: 'goose',
  start: ({ home, servers, provider, model, prompt }) => {
    const extensions = Object.fromEntries(
      servers.map(({ name, command: [cmd, ...args] }) => [
        name,
        { type: 'stdio', name, cmd, args, enabled: true, timeout: 300, envs: {} },
      ]),
    );
    return {
      // JSON is YAML, too.
      files: new Map([[join(home, '.config/goose/config.yaml'), JSON.stringify({ extensions })]]),
      args: ['run', '--no-session', '--quiet', '--output-format', 'stream-json', '-t', prompt],
      env: {
        GOOSE_PROVIDER: 'openai',
        GOOSE_MODEL: model,
        GOOSE_MODE: 'auto',
        GOOSE_DISABLE_KEYRING: '1',
        OPENAI_API_KEY: provider.token,
        OPENAI_HOST: provider.url,
        OPENAI_BASE_PATH: 'v1/chat/completions',
      },
    };
  },
};
