import { defineFinding, eachStep } from '../define-finding.ts';

export const protocol = defineFinding({
  kind: 'protocol',
  severity: 'error',
  find: eachStep(({ observation: { outcome, noise } }) => {
    if (outcome.kind === 'malformed') return `the answer is no valid result: ${outcome.message}`;
    return noise === null ? null : `the server wrote to stdout, where only messages belong: ${JSON.stringify(noise)}`;
  }),
});
