import { join } from 'node:path';
import { isRecord } from '../../base/json.ts';
import { opencode } from '../../hosts/profiles/opencode.ts';
import { defineAdapter, mapServers } from '../define-adapter.ts';
import type { HostOutput } from '../driver.ts';
import { describeDenial, describeError, readJsonLines } from '../output.ts';
import { openAiChat } from '../wires/openai-chat.ts';

/** opencode, as 1.18.33 was measured. */
export const opencodeAdapter = defineAdapter({
  profile: opencode,
  program: 'opencode',
  wire: openAiChat,
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
      mcp: mapServers(servers, ({ command, args }) => {
        return { type: 'local', command: [command, ...args], enabled: true };
      }),
    };
    return {
      files: new Map([[join(home, '.config/opencode/opencode.json'), JSON.stringify(config)]]),
      args: ['run', '--format', 'json', '--title', 'gate'],
      // It puts quotes around arguments with spaces, and escapes those within.
      input: prompt,
      env: {
        GATE_API_KEY: provider.token,
        OPENCODE_CONFIG: join(home, '.config/opencode/opencode.json'),
        OPENCODE_DISABLE_AUTOUPDATE: 'true',
        OPENCODE_DISABLE_MODELS_FETCH: 'true',
      },
    };
  },
  readOutput,
});

function readOutput({ stdout }: { stdout: string }): HostOutput {
  const lines = readJsonLines(stdout);
  const parts = lines.map(({ part }) => part).filter(isRecord);
  const text = parts.findLast(({ type }) => type === 'text')?.['text'];
  const refused = parts.filter(({ type, state }) => {
    const error = type === 'tool' && isRecord(state) && state['status'] === 'error' ? state['error'] : undefined;
    return typeof error === 'string' && /rejected permission|prevents you from using/i.test(error);
  });
  const failed = lines.filter(({ type }) => type === 'error');
  return {
    text: typeof text === 'string' ? text : null,
    denials: refused.map(({ tool }) => describeDenial(tool)),
    errors: failed.map(({ error }) => describeError(JSON.stringify(error))),
  };
}
