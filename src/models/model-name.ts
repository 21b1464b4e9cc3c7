import { ConfigurationError } from '../base/errors.ts';
import type { ModelName } from './language-model.ts';

/** Printable ASCII without spaces on both sides of the first slash. No provider has other names. */
const modelNamePattern = /^([A-Za-z0-9][A-Za-z0-9_-]*)\/([\x21-\x7e]+)$/;
const longestModelName = 200;

/**
 * Reads `provider/name`; the name may contain slashes. The provider is converted to lower case.
 *
 * @throws {ConfigurationError} with the text quoted
 */
export function parseModelName(text: string): ModelName {
  const [, provider, name] = (text.length > longestModelName ? null : modelNamePattern.exec(text)) ?? [];
  if (provider !== undefined && name !== undefined) return { provider: provider.toLowerCase(), name };
  const quoted = JSON.stringify(text.slice(0, longestModelName));
  const message = `${quoted} is not a model; write the provider and the model, such as anthropic/claude-haiku-4-5.`;
  throw new ConfigurationError([{ code: 'invalid-model', message }]);
}

export function formatModelName({ provider, name }: ModelName): string {
  return `${provider}/${name}`;
}

/** Writes a model as part of a file name: `<provider>-<name>`, with `_` for each character outside [A-Za-z0-9_.-]. */
export function slugModelName({ provider, name }: ModelName): string {
  return `${provider}-${name}`.replaceAll(/[^A-Za-z0-9_.-]/g, '_');
}
