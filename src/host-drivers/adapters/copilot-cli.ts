import { join } from 'node:path';
import { isRecord } from '../../base/json.ts';
import { copilotCli } from '../../hosts/profiles/copilot-cli.ts';
import { defineAdapter, mapServers } from '../define-adapter.ts';
import type { HostOutput } from '../driver.ts';
import { describeDenial, describeError, readJsonLines } from '../output.ts';
import { openAiChat } from '../wires/openai-chat.ts';

/** Copilot CLI, as 1.0.102 was measured. It needs no account with a provider of its own. */
export const copilotCliAdapter = defineAdapter({
  profile: copilotCli,
  program: 'copilot',
  wire: openAiChat,
  start: ({ home, servers, provider, model, prompt }) => {
    const config = join(home, 'mcp.json');
    const mcpServers = mapServers(servers, ({ command, args }) => ({ type: 'local', command, args, tools: ['*'] }));
    return {
      files: new Map([[config, JSON.stringify({ mcpServers })]]),
      args: [
        '-p',
        prompt,
        '--output-format',
        'json',
        '--additional-mcp-config',
        `@${config}`,
        '--disable-builtin-mcps',
        '--no-auto-update',
        ...servers.map(({ name }) => `--allow-tool=${name}`),
      ],
      env: {
        COPILOT_HOME: join(home, '.copilot'),
        COPILOT_OFFLINE: 'true',
        COPILOT_PROVIDER_BASE_URL: `${provider.url}/v1`,
        COPILOT_PROVIDER_TYPE: 'openai',
        COPILOT_PROVIDER_WIRE_API: 'completions',
        COPILOT_PROVIDER_API_KEY: provider.token,
        COPILOT_MODEL: model,
      },
    };
  },
  readOutput,
});

function readOutput({ stdout }: { stdout: string }): HostOutput {
  const events = readJsonLines(stdout).flatMap(({ type, data }) => (isRecord(data) ? [{ type, data }] : []));
  const list = (wanted: string) => events.flatMap(({ type, data }) => (type === wanted ? [data] : []));
  const text = list('assistant.message').at(-1)?.['content'];
  // Its own tools have no name of a server.
  const ofServers = new Map(
    list('tool.execution_start')
      .filter(({ mcpServerName }) => mcpServerName !== undefined)
      .map(({ toolCallId, toolName }) => [toolCallId, toolName]),
  );
  const refused = list('tool.execution_complete').filter(
    ({ toolCallId, error }) => ofServers.has(toolCallId) && isRecord(error) && error['code'] === 'denied',
  );
  return {
    text: typeof text === 'string' ? text : null,
    denials: refused.map(({ toolCallId }) => describeDenial(ofServers.get(toolCallId))),
    errors: list('session.error').map(({ message }) => describeError(message)),
  };
}
