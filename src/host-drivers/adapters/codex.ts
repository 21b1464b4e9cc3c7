import { join } from 'node:path';
import { isRecord, tryParseJson } from '../../base/json.ts';
import { codex } from '../../hosts/profiles/codex.ts';
import { defineAdapter } from '../define-adapter.ts';
import type { HostOutput, Wire } from '../driver.ts';
import { describeDenial, describeError, readJsonLines } from '../output.ts';
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
export const codexAdapter = defineAdapter({
  profile: codex,
  program: 'codex',
  wire,
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
  // Models that Codex knows search their tools, or call them from a program.
  canSearch: (request) =>
    wire.readTools(request).some(({ name }) => name === 'tool_search' || name === 'functions__exec'),
});

function readOutput({ stdout }: { stdout: string }): HostOutput {
  const lines = readJsonLines(stdout);
  const items = lines.flatMap(({ type, item }) => (type === 'item.completed' && isRecord(item) ? [item] : []));
  const text = items.findLast(({ type }) => type === 'agent_message')?.['text'];
  const refused = items.filter(({ type, error }) => {
    const message = type === 'mcp_tool_call' && isRecord(error) ? String(error['message']) : '';
    return /^MCP tool call requires approval|^user (?:rejected|cancell?ed) MCP tool call/i.test(message);
  });
  const failed = lines.flatMap(({ type, message, error }) => {
    if (type === 'error') return [String(message)];
    return type === 'turn.failed' ? [isRecord(error) ? String(error['message']) : 'The turn failed.'] : [];
  });
  return {
    text: typeof text === 'string' ? text : null,
    denials: refused.map(({ tool }) => describeDenial(tool)),
    errors: failed.map(describeError),
  };
}
