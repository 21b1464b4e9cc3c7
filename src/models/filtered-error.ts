import { ModelError } from '../base/errors.ts';
import type { ModelAnswer, ModelName } from './language-model.ts';
import { formatModelName } from './model-name.ts';

/** A provider answered that it withholds the answer of a model, or that the model refused: what it did send is no answer. */
export class FilteredError extends ModelError {
  readonly answer: ModelAnswer;

  constructor(model: ModelName, answer: ModelAnswer) {
    const { unified, raw = unified } = answer.finishReason;
    // Some providers put a refusal into a field of its own, and end the answer as any other.
    const reason = raw === 'stop' ? 'refusal' : raw;
    const message = `The provider of ${formatModelName(model)} withheld the answer because of its content (${reason}).`;
    super(message, { kind: 'filtered' });
    this.answer = answer;
  }
}
