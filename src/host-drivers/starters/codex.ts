import { join } from 'node:path';
import type { HostStarter } from '../driver.ts';

/** JSON texts and lists of them are TOML, too. */
const print = (value: string | readonly string[]) => JSON.stringify(value);

/** Codex, as 0.171.0 was measured. */
export const codexStarter: HostStarter = {
  id: 'codex',
  program: 'codex',
  start: ({ home, servers, provider, model, prompt }) => {
    const lines = [
      `model = ${print(model)}`,
      'model_provider = "gate"',
      '[model_providers.gate]',
      'name = "gate"',
      `base_url = ${print(`${provider.url}/v1`)}`,
      'env_key = "GATE_API_KEY"',
      'wire_api = "responses"',
      // A second try would be a second request of the conversation.
      'request_max_retries = 0',
      'stream_max_retries = 0',
      ...servers.flatMap(({ name, command: [command, ...args] }) => [
        `[mcp_servers.${print(name)}]`,
        `command = ${print(command)}`,
        `args = ${print(args)}`,
        'default_tools_approval_mode = "approve"',
      ]),
      '[features]',
      'plugins = false',
      'apps = false',
      'remote_plugin = false',
    ];
    return {
      files: new Map([[join(home, '.codex/config.toml'), `${lines.join('\n')}\n`]]),
      args: ['exec', '--json', '--skip-git-repo-check', '--ephemeral', prompt],
      env: { CODEX_HOME: join(home, '.codex'), GATE_API_KEY: provider.token },
    };
  },
};
