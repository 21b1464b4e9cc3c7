import { join } from 'node:path';
import { type HostAdapter, key } from '../adapter.ts';
import { serverName } from '../probe.ts';

export const adapter: HostAdapter = {
  id: 'claude-code',
  package: '@anthropic-ai/claude-code',
  model: 'claude-sonnet-4-5',
  showAll: { ENABLE_TOOL_SEARCH: 'false' },
  start: ({ installed, home, port, model, server, prompt }) => ({
    argv: [
      join(installed, `node_modules/@anthropic-ai/claude-code-${process.platform}-${process.arch}/claude`),
      ...['-p', prompt, '--strict-mcp-config', '--mcp-config', join(home, 'mcp.json')],
      ...['--output-format', 'stream-json', '--verbose', '--allowedTools', `mcp__${serverName}`],
      ...['--model', model, '--no-session-persistence'],
    ],
    env: {
      ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}`,
      ANTHROPIC_API_KEY: key,
      CLAUDE_CONFIG_DIR: join(home, '.claude'),
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
    },
    files: { 'mcp.json': JSON.stringify({ mcpServers: { [serverName]: server } }) },
  }),
};
