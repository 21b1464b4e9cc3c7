import { createAnthropic, VERSION } from '@ai-sdk/anthropic';
import type { LanguageModelV4 } from '@ai-sdk/provider';
import { generator } from '../base/version.ts';
import type { ModelName } from './language-model.ts';
import type { ProviderSettings } from './providers.ts';

export const providerPackage = { name: '@ai-sdk/anthropic', version: VERSION };

/** Makes a model that speaks Anthropic's Messages API. */
export function createModel(
  { baseUrl, apiKey }: ProviderSettings,
  { model, fetch }: { model: ModelName; fetch: typeof globalThis.fetch },
): LanguageModelV4 {
  const provider = createAnthropic({
    // Both are set, because the package reads a missing one from the environment of the process.
    baseURL: baseUrl.href,
    apiKey: apiKey?.reveal() ?? '',
    headers: { 'user-agent': `${generator.name}/${generator.version}` },
    fetch,
  });
  return provider.languageModel(model.name);
}
