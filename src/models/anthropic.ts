import { createAnthropic, VERSION } from '@ai-sdk/anthropic';
import type { LanguageModelV4 } from '@ai-sdk/provider';
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
  return provider.languageModel(model.name);
}
