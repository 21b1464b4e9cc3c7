import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { ModelName } from './language-model.ts';
import type { ProviderSettings, WireFormat } from './providers.ts';

/** Sends one request of a provider's package and returns its response. */
export type ProviderFetch = typeof globalThis.fetch;

/** Makes a model that sends its requests with `fetch`. The model keeps no state between calls. */
export type CreateModel = (fetch: ProviderFetch) => LanguageModelV4;

/** Loads the package that converts calls into a wire format. Each format is a separate chunk. */
const loaders = {
  anthropic: async () => await import('./anthropic.ts'),
  compatible: async () => await import('./compatible.ts'),
  own: async () => await import('./own-model.ts'),
  responses: async () => await import('./responses.ts'),
};

export async function loadModel(settings: ProviderSettings, model: ModelName): Promise<CreateModel> {
  const { createModel } = await loaders[settings.format]();
  return (fetch) => createModel(settings, { model, fetch });
}

/** Names the package that implements a wire format. Loads the package if it is not loaded yet. */
export async function describePackage(format: WireFormat): Promise<{ name: string; version: string }> {
  const { providerPackage } = await loaders[format]();
  return providerPackage;
}
