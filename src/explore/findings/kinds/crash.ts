import { defineFinding, eachStep } from '../define-finding.ts';

export const crash = defineFinding({
  kind: 'crash',
  severity: 'error',
  find: eachStep(({ observation: { outcome } }) => {
    if (outcome.kind !== 'ended') return null;
    const how = outcome.signal === null ? `exit code ${outcome.exitCode}` : outcome.signal;
    return `the server ended with ${how} instead of an answer`;
  }),
});
