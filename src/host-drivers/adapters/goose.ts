import { join } from 'node:path';
import { isRecord, tryParseJson } from '../../base/json.ts';
import type { HostAdapter, HostOutput } from '../driver.ts';
import { classifyByTools, findShown } from '../requests.ts';
import { openAiChat } from '../wires/openai-chat.ts';

/** goose, as 1.52.0 was measured. */
export const gooseAdapter: HostAdapter = {
  id: 'goose',
  program: 'goose',
  wire: openAiChat,
  canDropBuiltIns: false,
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
  readOutput,
  classify: (request) => classifyByTools(request, openAiChat),
  readShown: (request, servers) => findShown(request, servers, { wire: openAiChat, nameTool }),
  nameTool,
};

/** goose makes a key of the name of a server, and passes on the names of tools. */
function nameTool(server: string, tool: string): string {
  const key = server.replaceAll(/\s/g, '').replaceAll(/[^A-Za-z0-9_-]/g, '_');
  return `${key.toLowerCase()}__${tool}`;
}

function readOutput({ stdout }: { stdout: string }): HostOutput {
  const lines = stdout.split('\n').map(tryParseJson).filter(isRecord);
  const texts = lines.flatMap(({ message }) => {
    const { role, content } = isRecord(message) ? message : {};
    if (role !== 'assistant' || !Array.isArray(content)) return [];
    return content
      .filter(isRecord)
      .flatMap(({ type, text }) => (type === 'text' && typeof text === 'string' ? [text] : []));
  });
  const errors = lines
    .filter(({ type }) => type === 'error')
    .map(({ error }) => `It reports an error: ${String(error)}`);
  return { text: texts.at(-1) ?? null, denials: [], errors };
}
