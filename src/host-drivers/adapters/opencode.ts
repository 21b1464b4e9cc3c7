import { join } from 'node:path';
import { isRecord, tryParseJson } from '../../base/json.ts';
import type { HostAdapter, HostOutput } from '../driver.ts';
import { classifyByTools, findShown } from '../requests.ts';
import { openAiChat } from '../wires/openai-chat.ts';

/** opencode, as 1.18.33 was measured. */
export const opencodeAdapter: HostAdapter = {
  id: 'opencode',
  program: 'opencode',
  wire: openAiChat,
  canDropBuiltIns: false,
  start: ({ home, servers, provider, model, prompt }) => {
    const name = `gate/${model}`;
    const known = {
      name: model,
      limit: { context: 1_000_000, output: 10_000 },
      attachment: true,
      modalities: { input: ['text', 'image'], output: ['text'] },
    };
    const config = {
      model: name,
      small_model: name,
      autoupdate: false,
      share: 'disabled',
      provider: {
        gate: {
          npm: '@ai-sdk/openai-compatible',
          name: 'gate',
          options: { baseURL: `${provider.url}/v1`, apiKey: '{env:GATE_API_KEY}' },
          models: { [model]: known },
        },
      },
      mcp: Object.fromEntries(
        servers.map(({ name: server, command }) => [server, { type: 'local', command, enabled: true }]),
      ),
    };
    return {
      files: new Map([[join(home, '.config/opencode/opencode.json'), JSON.stringify(config)]]),
      args: ['run', '--format', 'json', '--title', 'gate', prompt],
      env: {
        GATE_API_KEY: provider.token,
        OPENCODE_CONFIG: join(home, '.config/opencode/opencode.json'),
        OPENCODE_DISABLE_AUTOUPDATE: 'true',
        OPENCODE_DISABLE_MODELS_FETCH: 'true',
      },
    };
  },
  readOutput,
  classify: (request) => classifyByTools(request, openAiChat),
  readShown: (request, servers) => findShown(request, servers, { wire: openAiChat, nameTool }),
  nameTool,
};

function nameTool(server: string, tool: string): string {
  const replace = (name: string) => name.replaceAll(/[^A-Za-z0-9_-]/g, '_');
  return `${replace(server)}_${replace(tool)}`;
}

function readOutput({ stdout }: { stdout: string }): HostOutput {
  const lines = stdout.split('\n').map(tryParseJson).filter(isRecord);
  const parts = lines.map(({ part }) => part).filter(isRecord);
  const text = parts.findLast(({ type }) => type === 'text')?.['text'];
  const refused = parts.filter(({ type, state }) => {
    const error = type === 'tool' && isRecord(state) && state['status'] === 'error' ? state['error'] : undefined;
    return typeof error === 'string' && /rejected permission|prevents you from using/i.test(error);
  });
  const failed = lines.filter(({ type }) => type === 'error');
  return {
    text: typeof text === 'string' ? text : null,
    denials: refused.map(({ tool }) => `It did not approve the call of ${String(tool)}.`),
    errors: failed.map(({ error }) => `It reports an error: ${JSON.stringify(error)}`),
  };
}
