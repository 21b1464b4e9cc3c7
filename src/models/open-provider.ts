import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { ModelName } from './language-model.ts';
import type { ProviderSettings } from './providers.ts';

/** Sends one request of a provider's package, and returns its answer. */
export type ProviderFetch = typeof globalThis.fetch;

/** Makes a model of a provider, which sends its requests with `fetch`. It keeps nothing between calls. */
export type CreateModel = (fetch: ProviderFetch) => LanguageModelV4;

/** Loads what converts calls into the wire format of a provider; each format is a chunk of its own. */
export async function loadModel(settings: ProviderSettings, model: ModelName): Promise<CreateModel> {
  if (settings.format === 'anthropic') {
    const { createAnthropicModel } = await import('./anthropic.ts');
    return (fetch) => createAnthropicModel(settings, { model, fetch });
  }
  const { createCompatibleModel } = await import('./compatible.ts');
  return (fetch) => createCompatibleModel(settings, { model, fetch });
}
