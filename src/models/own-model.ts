import type { LanguageModelV4 } from '@ai-sdk/provider';
import { ModelError } from '../base/errors.ts';
import type { ModelName } from './language-model.ts';
import { formatModelName } from './model-name.ts';
import type { ProviderSettings } from './providers.ts';

/** Names no package: the program gives the model. */
export const providerPackage = { name: 'own', version: '1' };

/** Returns the model that the program gave. @throws {ModelError} if it gave none of this name */
export function createModel({ models }: ProviderSettings, { model }: { model: ModelName }): LanguageModelV4 {
  const found = models?.get(model.name);
  if (found !== undefined) return found;
  throw new ModelError(`The program has no model ${formatModelName(model)}.`, { kind: 'refused' });
}
