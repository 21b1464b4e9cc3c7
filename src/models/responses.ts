import { createOpenAI, VERSION } from '@ai-sdk/openai';
import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { adaptOptions } from './adapt-options.ts';
import type { ModelName } from './language-model.ts';
import { type ProviderSettings, writeHeaders } from './providers.ts';

export const providerPackage = { name: '@ai-sdk/openai', version: VERSION };

/** Makes a model that speaks OpenAI's Responses API. */
export function createModel(
  { baseUrl, apiKey, headers }: ProviderSettings,
  { model, fetch }: { model: ModelName; fetch: typeof globalThis.fetch },
): LanguageModelV4 {
  const provider = createOpenAI({
    // Both are set, because the package reads a missing one from the environment of the process.
    baseURL: baseUrl.href,
    apiKey: apiKey?.reveal() ?? '',
    headers: writeHeaders(headers),
    fetch,
  });
  return adaptOptions(provider.responses(model.name), keepNothing);
}

/**
 * Has the provider store no answer. Reasoning comes back encrypted instead, and goes with the next request: a recording of it stays valid where
 * an id would not. Schemas are those of the server, which OpenAI's strict mode refuses.
 */
function keepNothing(options: LanguageModelV4CallOptions): LanguageModelV4CallOptions {
  const tools = options.tools?.map((tool) => (tool.type === 'function' ? { ...tool, strict: false } : tool));
  return {
    ...options,
    ...(tools !== undefined && { tools }),
    providerOptions: { openai: { store: false, include: ['reasoning.encrypted_content'] } },
  };
}
