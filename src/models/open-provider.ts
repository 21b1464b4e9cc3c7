import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { ModelName } from './language-model.ts';
import type { ProviderSettings, WireFormat } from './providers.ts';

/** Sends one request of a provider's package, and returns its answer. */
export type ProviderFetch = typeof globalThis.fetch;

/** Makes a model of a provider, which sends its requests with `fetch`. It keeps nothing between calls. */
export type CreateModel = (fetch: ProviderFetch) => LanguageModelV4;

/** What converts calls into the wire format of a provider; each format is a chunk of its own. */
const loaders = {
  anthropic: async () => await import('./anthropic.ts'),
  compatible: async () => await import('./compatible.ts'),
};

export async function loadModel(settings: ProviderSettings, model: ModelName): Promise<CreateModel> {
  const { createModel } = await loaders[settings.format]();
  return (fetch) => createModel(settings, { model, fetch });
}

/** Names the package that speaks a wire format. Loads it, if nothing did before. */
export async function describePackage(format: WireFormat): Promise<{ name: string; version: string }> {
  const { providerPackage } = await loaders[format]();
  return providerPackage;
}
