import { isRefused } from '../../answers.ts';
import { clipText } from '../../../base/text.ts';
import { readOutcomeText } from '../../stability/texts.ts';
import { defineFinding, eachStep } from '../define-finding.ts';
import { isValidationMessage } from '../validation-messages.ts';

export const schemaTooStrict = defineFinding({
  kind: 'schema-too-strict',
  severity: 'warning',
  find: eachStep(({ isValid, observation }) => {
    if (isValid !== true || !isRefused(observation)) return null;
    const message = readOutcomeText(observation.outcome);
    return isValidationMessage(message)
      ? `arguments that fit the input schema are refused by validation: ${clipText(message.replaceAll(/\s+/g, ' '), 160)}`
      : null;
  }),
});
