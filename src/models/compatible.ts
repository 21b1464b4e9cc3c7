import { createOpenAICompatible, VERSION } from '@ai-sdk/openai-compatible';
import type { LanguageModelV4, LanguageModelV4FilePart, LanguageModelV4Prompt } from '@ai-sdk/provider';
import { generator } from '../base/version.ts';
import type { ModelName } from './language-model.ts';
import type { ProviderSettings } from './providers.ts';

export const providerPackage = { name: '@ai-sdk/openai-compatible', version: VERSION };

/** Makes a model that speaks the Chat Completions API. */
export function createModel(
  { provider: name, baseUrl, apiKey }: ProviderSettings,
  { model, fetch }: { model: ModelName; fetch: typeof globalThis.fetch },
): LanguageModelV4 {
  const provider = createOpenAICompatible({
    name,
    baseURL: baseUrl.href,
    ...(apiKey === null ? {} : { apiKey: apiKey.reveal() }),
    headers: { 'user-agent': `${generator.name}/${generator.version}` },
    fetch,
    ...(name === 'openai' ? { transformRequestBody: renameOutputLimit } : {}),
  });
  const chat = provider.languageModel(model.name);
  return {
    specificationVersion: chat.specificationVersion,
    provider: chat.provider,
    modelId: chat.modelId,
    supportedUrls: chat.supportedUrls,
    doGenerate: (options) => chat.doGenerate({ ...options, prompt: adaptPrompt(options.prompt, name) }),
    doStream: (options) => chat.doStream({ ...options, prompt: adaptPrompt(options.prompt, name) }),
  };
}

/** OpenAI's models that reason refuse `max_tokens`; the other providers know no other name. */
function renameOutputLimit({ max_tokens, ...body }: Record<string, unknown>): Record<string, unknown> {
  return max_tokens === undefined ? body : { ...body, max_completion_tokens: max_tokens };
}

/**
 * Writes a prompt so that Chat Completions can say it: results of tools are text there, so their images follow in a message of the
 * user. Mistral refuses reasoning that is sent back.
 */
function adaptPrompt(prompt: LanguageModelV4Prompt, provider: string): LanguageModelV4Prompt {
  return prompt.flatMap((message): LanguageModelV4Prompt => {
    if (message.role === 'assistant' && provider === 'mistral') {
      return [{ ...message, content: message.content.filter(({ type }) => type !== 'reasoning') }];
    }
    return message.role === 'tool' ? splitImages(message) : [message];
  });
}

type ToolMessage = Extract<LanguageModelV4Prompt[number], { role: 'tool' }>;

function splitImages(message: ToolMessage): LanguageModelV4Prompt {
  const images: LanguageModelV4FilePart[] = [];
  const content = message.content.map((result) => {
    if (result.type !== 'tool-result' || result.output.type !== 'content') return result;
    const lines = result.output.value.map((part) => {
      if (part.type === 'text') return part.text;
      if (part.type !== 'file') return '';
      images.push({ type: 'file', mediaType: part.mediaType, data: part.data });
      return `[image ${images.length} of the next message]`;
    });
    return { ...result, output: { type: 'text' as const, value: lines.join('\n') } };
  });
  const results: ToolMessage = { ...message, content };
  if (images.length === 0) return [results];
  const introduction = { type: 'text' as const, text: 'The images of the tool results above, in their order:' };
  return [results, { role: 'user', content: [introduction, ...images] }];
}
