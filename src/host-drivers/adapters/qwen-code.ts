import { tryParseJson } from '../../base/json.ts';
import { qwenCode } from '../../hosts/profiles/qwen-code.ts';
import { defineAdapter } from '../define-adapter.ts';
import type { ProviderRequest, ShownTool } from '../driver.ts';
import { startGeminiFamily } from '../gemini-family.ts';
import { readStreamJson } from '../output.ts';
import { openAiChat } from '../wires/openai-chat.ts';

/** Qwen Code, as 0.24.4 was measured. */
export const qwenCodeAdapter = defineAdapter({
  profile: qwenCode,
  program: 'qwen',
  wire: openAiChat,
  start: (place) => ({
    ...startGeminiFamily(place, { folder: '.qwen', auth: 'openai' }),
    env: {
      OPENAI_API_KEY: place.provider.token,
      OPENAI_BASE_URL: `${place.provider.url}/v1`,
      OPENAI_MODEL: place.model,
      QWEN_CODE_NO_RELAUNCH: 'true',
    },
  }),
  readOutput: readStreamJson,
  listDeferred,
});

/** A tool that the model can search for: its name and the beginning of its description, both as JSON. */
const deferredTool = /^- ("(?:[^"\\]|\\.)*")(?:: ("(?:[^"\\]|\\.)*"))?$/gm;

function listDeferred(request: ProviderRequest): ShownTool[] {
  return openAiChat
    .readTexts(request)
    .flatMap((text) => [...text.matchAll(deferredTool)])
    .flatMap(([, quoted = '', described = '']) => {
      const [name, description] = [tryParseJson(quoted), tryParseJson(described)];
      if (typeof name !== 'string') return [];
      return [{ name, description: typeof description === 'string' ? description : null, schema: null }];
    });
}
