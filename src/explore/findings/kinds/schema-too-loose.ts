import { isAnswered } from '../../answers.ts';
import { defineFinding, eachStep } from '../define-finding.ts';

/** A note: frameworks that convert "5" to 5, or drop unknown keys, are not wrong. */
export const schemaTooLoose = defineFinding({
  kind: 'schema-too-loose',
  severity: 'note',
  find: eachStep(({ isValid, observation }) =>
    isValid === false && isAnswered(observation) ? 'arguments that break the input schema are accepted' : null,
  ),
});
