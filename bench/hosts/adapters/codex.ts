import { join } from 'node:path';
import { type HostAdapter, key } from '../adapter.ts';
import { serverName } from '../probe.ts';

const quote = JSON.stringify;

export const adapter: HostAdapter = {
  id: 'codex',
  package: '@openai/codex',
  model: 'probe-model',
  models: ['gpt-5.5', 'gpt-5.6-sol'],
  start: ({ installed, home, port, model, server, prompt }) => ({
    argv: [
      process.execPath,
      join(installed, 'node_modules/@openai/codex/bin/codex.js'),
      ...['exec', '--json', '--skip-git-repo-check', '--ephemeral', prompt],
    ],
    env: { CODEX_HOME: join(home, '.codex'), PROBE_API_KEY: key },
    files: {
      '.codex/config.toml': `model = ${quote(model)}
model_provider = "probe"
[model_providers.probe]
name = "probe"
base_url = "http://127.0.0.1:${port}/v1"
env_key = "PROBE_API_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
[mcp_servers.${serverName}]
command = ${quote(server.command)}
args = ${quote(server.args)}
default_tools_approval_mode = "approve"
[features]
plugins = false
apps = false
remote_plugin = false
`,
    },
  }),
};
