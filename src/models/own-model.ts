import type { LanguageModelV4, LanguageModelV4GenerateResult, LanguageModelV4Usage } from '@ai-sdk/provider';
import { z } from 'zod';
import { ModelError } from '../base/errors.ts';
import type { ModelName } from './language-model.ts';
import { formatModelName } from './model-name.ts';
import type { ProviderSettings } from './providers.ts';

/** Names no package: the program gives the model. */
export const providerPackage = { name: 'own', version: '1' };

/** Returns the model that the program gave, which may come from JavaScript. @throws {ModelError} if it gave none of this name */
export function createModel({ models }: ProviderSettings, { model }: { model: ModelName }): LanguageModelV4 {
  const found = models?.get(model.name);
  if (found === undefined) {
    throw new ModelError(`The program has no model ${formatModelName(model)}.`, { kind: 'refused' });
  }
  const { specificationVersion, provider, modelId, supportedUrls } = found;
  return {
    specificationVersion,
    provider,
    modelId,
    supportedUrls,
    doGenerate: async (options) => readAnswer(await found.doGenerate(options)),
    doStream: async (options) => await found.doStream(options),
  };
}

/** The texts that a part of an answer has, by its type. */
const texts: Readonly<Record<string, readonly string[]>> = {
  text: ['text'],
  reasoning: ['text'],
  'tool-call': ['toolCallId', 'toolName', 'input'],
};

const partSchema = z
  .looseObject({ type: z.string() })
  .refine((part) => (texts[part.type] ?? []).every((key) => typeof part[key] === 'string'), 'lacks a text');

const answerSchema = z.looseObject({
  content: z.array(partSchema),
  finishReason: z.looseObject({ unified: z.string() }),
  usage: z.looseObject({ inputTokens: z.looseObject({}), outputTokens: z.looseObject({}) }).optional(),
});

const noUsage: LanguageModelV4Usage = {
  inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: undefined, text: undefined, reasoning: undefined },
};

/** Checks what is read of an answer. A model that counts no tokens may leave the counts out. */
function readAnswer(answer: LanguageModelV4GenerateResult): LanguageModelV4GenerateResult {
  const { data, error } = answerSchema.safeParse(answer);
  if (data !== undefined) return data.usage === undefined ? { ...answer, usage: noUsage } : answer;
  const [issue] = error.issues;
  const at = issue === undefined || issue.path.length === 0 ? '' : `\`${issue.path.join('.')}\`: `;
  throw new TypeError(`its answer is none of the specification v4 (${at}${issue?.message ?? 'invalid'})`);
}
