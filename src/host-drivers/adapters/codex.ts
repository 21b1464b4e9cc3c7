import { join } from 'node:path';
import { isRecord, tryParseJson } from '../../base/json.ts';
import type { HostAdapter, HostOutput, Wire } from '../driver.ts';
import { classifyByTools, findShown } from '../requests.ts';
import { openAiResponses } from '../wires/openai-responses.ts';

/** JSON texts and lists of them are TOML, too. */
const print = (value: string | readonly string[]) => JSON.stringify(value);

/** Each result has the time that its call took. */
const wallTime = /Wall time:? [\d.]+ seconds/g;

const wire: Wire = {
  ...openAiResponses,
  readResults: (request) =>
    openAiResponses.readResults(request).map(({ callId, output }) => ({
      callId,
      output: tryParseJson(JSON.stringify(output).replaceAll(wallTime, 'Wall time: 0 seconds')),
    })),
};

/** Codex, as 0.171.0 was measured. */
export const codexAdapter: HostAdapter = {
  id: 'codex',
  program: 'codex',
  wire,
  canDropBuiltIns: false,
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
  readOutput,
  classify: (request) => classifyByTools(request, wire),
  readShown: (request, servers) => ({
    ...findShown(request, servers, { wire, nameTool }),
    // Models that Codex knows search their tools, or call them from a program.
    canSearch: wire.readTools(request).some(({ name }) => name === 'tool_search' || name === 'functions__exec'),
  }),
  nameTool,
};

/** The name of a namespace and that of a tool in it. */
function nameTool(server: string, tool: string): string {
  const replace = (name: string) => name.replaceAll(/[^A-Za-z0-9_-]/g, '_');
  return `mcp__${replace(server)}__${replace(tool)}`;
}

function readOutput({ stdout }: { stdout: string }): HostOutput {
  const lines = stdout.split('\n').map(tryParseJson).filter(isRecord);
  const items = lines.flatMap(({ type, item }) => (type === 'item.completed' && isRecord(item) ? [item] : []));
  const text = items.findLast(({ type }) => type === 'agent_message')?.['text'];
  const refused = items.filter(({ type, error }) => {
    const message = type === 'mcp_tool_call' && isRecord(error) ? String(error['message']) : '';
    return /^user (?:rejected|cancell?ed) MCP tool call/i.test(message);
  });
  const failed = lines.flatMap(({ type, message, error }) => {
    if (type === 'error') return [String(message)];
    return type === 'turn.failed' ? [isRecord(error) ? String(error['message']) : 'The turn failed.'] : [];
  });
  return {
    text: typeof text === 'string' ? text : null,
    denials: refused.map(({ tool }) => `It did not approve the call of ${String(tool)}.`),
    errors: failed.map((message) => `It reports an error: ${message}`),
  };
}
