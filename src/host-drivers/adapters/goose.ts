import { join } from 'node:path';
import { isRecord } from '../../base/json.ts';
import { goose } from '../../hosts/profiles/goose.ts';
import { defineAdapter, mapServers } from '../define-adapter.ts';
import type { HostOutput } from '../driver.ts';
import { describeError, readJsonLines } from '../output.ts';
import { openAiChat } from '../wires/openai-chat.ts';

/** goose, as 1.52.0 was measured. */
export const gooseAdapter = defineAdapter({
  profile: goose,
  program: 'goose',
  wire: openAiChat,
  keyServer: (name) =>
    name
      .replaceAll(/\s/g, '')
      .replaceAll(/[^A-Za-z0-9_-]/g, '_')
      .toLowerCase(),
  start: ({ home, servers, provider, model, prompt }) => {
    const extensions = mapServers(servers, ({ name, command: cmd, args }) => {
      return { type: 'stdio', name, cmd, args, enabled: true, timeout: 300, envs: {} };
    });
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
});

function readOutput({ stdout }: { stdout: string }): HostOutput {
  const lines = readJsonLines(stdout);
  const texts = lines.flatMap(({ message }) => {
    const { role, content } = isRecord(message) ? message : {};
    if (role !== 'assistant' || !Array.isArray(content)) return [];
    return content
      .filter(isRecord)
      .flatMap(({ type, text }) => (type === 'text' && typeof text === 'string' ? [text] : []));
  });
  const errors = lines.filter(({ type }) => type === 'error').map(({ error }) => describeError(error));
  return { text: texts.at(-1) ?? null, denials: [], errors };
}
