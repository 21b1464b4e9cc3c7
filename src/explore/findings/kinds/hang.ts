import { defineFinding, eachStep } from '../define-finding.ts';

/** A call that takes long, while the server answers pings or reports progress, is none. */
export const hang = defineFinding({
  kind: 'hang',
  severity: 'error',
  find: eachStep(({ observation: { outcome } }) =>
    outcome.kind === 'silent' && !outcome.isAlive ? 'the server answered neither the call nor a ping after it' : null,
  ),
});
