import { createAnthropic, VERSION } from '@ai-sdk/anthropic';
import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { adaptOptions } from './adapt-options.ts';
import type { ModelName } from './language-model.ts';
import { type ProviderSettings, writeHeaders } from './providers.ts';

export const providerPackage = { name: '@ai-sdk/anthropic', version: VERSION };

/** Makes a model that speaks Anthropic's Messages API. */
export function createModel(
  { baseUrl, apiKey, headers }: ProviderSettings,
  { model, fetch }: { model: ModelName; fetch: typeof globalThis.fetch },
): LanguageModelV4 {
  const provider = createAnthropic({
    // Both are set, because the package reads a missing one from the environment of the process.
    baseURL: baseUrl.href,
    apiKey: apiKey?.reveal() ?? '',
    headers: writeHeaders(headers),
    fetch,
  });
  return adaptOptions(provider.languageModel(model.name), markForCache);
}

/** Has the provider keep everything up to this part for five minutes, the default of its API. */
const cacheMark = { providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } } };

/**
 * Marks the end of the tools and the end of the system prompt, with which every call of a suite begins: a provider reads them from its cache
 * from the second call on. The API ignores a mark if the part is too short to be kept.
 */
function markForCache({ prompt, tools, ...options }: LanguageModelV4CallOptions): LanguageModelV4CallOptions {
  const lastSystem = prompt.findLastIndex(({ role }) => role === 'system');
  return {
    ...options,
    prompt: prompt.map((message, index) => (index === lastSystem ? { ...message, ...cacheMark } : message)),
    ...(tools !== undefined && {
      tools: tools.map((tool, index) =>
        tool.type === 'function' && index === tools.length - 1 ? { ...tool, ...cacheMark } : tool,
      ),
    }),
  };
}
