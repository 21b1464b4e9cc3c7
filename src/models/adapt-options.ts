import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider';

/** Makes a model of a package that gets each call as `adapt` returns it. */
export function adaptOptions(
  model: LanguageModelV4,
  adapt: (options: LanguageModelV4CallOptions) => LanguageModelV4CallOptions,
): LanguageModelV4 {
  return {
    specificationVersion: model.specificationVersion,
    provider: model.provider,
    modelId: model.modelId,
    supportedUrls: model.supportedUrls,
    doGenerate: async (options) => await model.doGenerate(adapt(options)),
    doStream: async (options) => await model.doStream(adapt(options)),
  };
}
