import { tryParseJson } from '../../../base/json.ts';
import { isRefused } from '../../answers.ts';
import { clipText } from '../../../base/text.ts';
import { readOutcomeText } from '../../stability/texts.ts';
import { defineFinding, eachStep } from '../define-finding.ts';
import { isValidationMessage } from '../validation-messages.ts';

export const schemaTooStrict = defineFinding({
  kind: 'schema-too-strict',
  severity: 'warning',
  find: eachStep(({ request, isValid, observation }) => {
    if (isValid !== true || !isRefused(observation)) return null;
    // A schema cannot say what a document within a text looks like.
    if (request.kind === 'tool' && Object.values(request.arguments).some(isDocumentText)) return null;
    const message = readOutcomeText(observation.outcome);
    return isValidationMessage(message)
      ? `arguments that fit the input schema are refused by validation: ${clipText(message.replaceAll(/\s+/g, ' '), 160)}`
      : null;
  }),
});

const isDocumentText = (value: unknown) => typeof value === 'string' && typeof tryParseJson(value) === 'object';
