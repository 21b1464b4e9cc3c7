import { setSecret } from '@actions/core';
import { createRedactor, type Redactor } from '../base/redaction.ts';
import { shortestSecretLength } from '../base/secret-forms.ts';

/** Every secret is masked by the runner too, before anything could print it. */
export function createMaskingRedactor(): Redactor {
  const redactor = createRedactor();
  return {
    redact: (text) => redactor.redact(text),
    add: (secret) => {
      if (secret.reveal().length >= shortestSecretLength) setSecret(secret.reveal());
      redactor.add(secret);
    },
  };
}
