import { setSecret } from '@actions/core';
import { createRedactor, type Redactor } from '../base/redaction.ts';
import { shortestSecretLength } from '../base/secret-forms.ts';

/** Every secret is masked by the runner too, before anything could print it. */
export function createMaskingRedactor(): Redactor {
  const redactor = createRedactor();
  const masked = new Set<string>();
  return {
    redact: (text) => redactor.redact(text),
    add: (secret) => {
      const value = secret.reveal();
      if (masked.has(value)) return;
      masked.add(value);
      if (value.length >= shortestSecretLength) setSecret(value);
      redactor.add(secret);
    },
  };
}
