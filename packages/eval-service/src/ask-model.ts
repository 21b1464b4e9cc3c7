import { describeError, ModelError } from '../../../src/base/errors.ts';
import type { ModelName, ModelSession, ModelSource } from '../../../src/models/language-model.ts';
import { ApiError, notSupported } from './envelope.ts';

/** The models that the service asks outside of runs. */
export interface ModelParts {
  /** Null if no model can be asked. */
  models: ModelSource | null;
  defaultModel: ModelName | null;
}

/** A model that can be asked. */
export interface ChosenModel {
  model: ModelName;
  openSession(): Promise<ModelSession>;
}

/**
 * Chooses the model for an operation: the service's default, else the suite's.
 *
 * @throws {ApiError} FEATURE_NOT_SUPPORTED if no model can be asked, with the missing variable.
 */
export function requireModel(
  { models, defaultModel }: ModelParts,
  { operation, suiteModel = null }: { operation: string; suiteModel?: ModelName | null },
): ChosenModel {
  if (models === null) throw notSupported(`${operation} needs a model: this service runs none.`);
  const model = defaultModel ?? suiteModel;
  if (model === null) {
    throw notSupported(`${operation} needs a model, and this service has no default model. Start it with \`--model\`.`);
  }
  // No request of these operations has a field for keys.
  const apiKeys: ReadonlyMap<string, string> = new Map();
  const problem = models.findProblem({ model, apiKeys });
  if (problem !== null) throw notSupported(`${operation} needs a model: ${problem}`);
  const request = { model, apiKeys, caseId: operation, iterationNumber: 1 };
  return { model, openSession: () => models.openSession(request) };
}

/** Converts the error of a model to a refusal. Returns any other error unchanged. */
export function explainModelError(error: unknown): unknown {
  if (!(error instanceof ModelError)) return error;
  const message = describeError(error);
  if (error.kind === 'refused') return notSupported(message);
  const details = { reason: error.kind === 'filtered' ? 'MODEL_ANSWER_FILTERED' : 'MODEL_UNAVAILABLE' };
  return new ApiError('INTERNAL_ERROR', message, { details, cause: error });
}
