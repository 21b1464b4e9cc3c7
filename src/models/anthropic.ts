import { createAnthropic } from '@ai-sdk/anthropic';
import type { LanguageModelV4 } from '@ai-sdk/provider';
import { generator } from '../base/version.ts';
import type { ModelName } from './language-model.ts';
import type { ProviderSettings } from './providers.ts';

/** Makes a model that speaks Anthropic's Messages API. */
export function createAnthropicModel(
  { baseUrl, apiKey }: ProviderSettings,
  { model, fetch }: { model: ModelName; fetch: typeof globalThis.fetch },
): LanguageModelV4 {
  const provider = createAnthropic({
    // Both are given: what is left out would be read from the environment of the process.
    baseURL: baseUrl.href,
    apiKey: apiKey?.reveal() ?? '',
    headers: { 'user-agent': `${generator.name}/${generator.version}` },
    fetch,
  });
  return provider.languageModel(model.name);
}
