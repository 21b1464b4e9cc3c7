import type { LanguageModelV4 } from '@ai-sdk/provider';

/** A model of your own, by the name that cases have. */
export interface OwnModel {
  /** `provider/name`, as `model` of a case has it. */
  name: string;
  /** A model of the AI SDK, of specification v4. */
  model: LanguageModelV4;
}

/**
 * Defines a model for `runGate({ models })`. Cases and judges that name it ask it, instead of a provider of the gate.
 */
export function defineModel(model: OwnModel): OwnModel {
  return model;
}
