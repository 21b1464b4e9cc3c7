import { join } from 'node:path';
import { type HostAdapter, key } from '../adapter.ts';
import { serverName } from '../probe.ts';

export const adapter: HostAdapter = {
  id: 'copilot-cli',
  package: '@github/copilot',
  model: 'probe-model',
  start: ({ installed, home, port, model, server, prompt }) => ({
    argv: [
      join(installed, `node_modules/@github/copilot-${process.platform}-${process.arch}/copilot`),
      ...['-p', prompt, '--output-format', 'json', '--additional-mcp-config', `@${join(home, 'mcp.json')}`],
      ...['--disable-builtin-mcps', `--allow-tool=${serverName}`, '--no-auto-update'],
    ],
    env: {
      COPILOT_HOME: join(home, '.copilot'),
      COPILOT_OFFLINE: 'true',
      COPILOT_PROVIDER_BASE_URL: `http://127.0.0.1:${port}/v1`,
      COPILOT_PROVIDER_TYPE: 'openai',
      COPILOT_PROVIDER_WIRE_API: 'completions',
      COPILOT_PROVIDER_API_KEY: key,
      COPILOT_MODEL: model,
    },
    files: {
      'mcp.json': JSON.stringify({ mcpServers: { [serverName]: { type: 'local', ...server, tools: ['*'] } } }),
    },
  }),
};
