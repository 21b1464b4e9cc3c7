import { readResultTexts } from '../../stability/texts.ts';
import { clipText } from '../../../base/text.ts';
import { defineFinding, eachStep } from '../define-finding.ts';

/** How the text of an exception begins. A result that only mentions an error is none. */
const exceptions = [
  /^(?:Error executing tool|Internal (?:server )?error\b|Unhandled (?:error|exception))/i,
  /^(?:\w+\.)*[A-Z]\w*(?:Error|Exception): /,
  /^Error: /,
  /^Traceback \(most recent call last\)/,
  /^panic: |^thread '\w+' panicked/,
];

export const errorFlag = defineFinding({
  kind: 'error-flag',
  severity: 'warning',
  find: eachStep(({ request, observation: { outcome } }) => {
    if (outcome.kind !== 'result' || outcome.isError) return null;
    // A tool that is asked for an error text has not failed.
    if (request.kind === 'tool' && /error|fail/i.test(JSON.stringify(request.arguments))) return null;
    const texts = readResultTexts(outcome.result);
    const [only = ''] = texts;
    const isException = texts.length === 1 && exceptions.some((pattern) => pattern.test(only));
    return isException ? `the result is the text of an error, without \`isError\`: ${clipText(only, 120)}` : null;
  }),
});
