import { ModelError } from '../base/errors.ts';
import type { ModelAnswer, ModelName } from './language-model.ts';
import { formatModelName } from './model-name.ts';

/** The provider withheld the answer, or the model refused. The content that the provider did send does not count as an answer. */
export class FilteredError extends ModelError {
  readonly answer: ModelAnswer;

  constructor(model: ModelName, answer: ModelAnswer) {
    const { unified, raw = unified } = answer.finishReason;
    // Some providers put a refusal into a separate field and end the answer like any other.
    const reason = raw === 'stop' ? 'refusal' : raw;
    const message = `The provider of ${formatModelName(model)} withheld the answer because of its content (${reason}).`;
    super(message, { kind: 'filtered' });
    this.answer = answer;
  }
}
