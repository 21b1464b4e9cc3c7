import { listSecretForms } from './secret-masker.ts';

/** A secret in an output of the process. It is named by its position and never repeated. */
export interface Leak {
  place: string;
  secretIndex: number;
  /** The index of the encoding: 0 is the plain value. */
  formIndex: number;
}

/** Searches for secrets, plain and encoded, in named texts such as the masked log, the summary, outputs and report files. */
export function findLeaks(secrets: readonly string[], texts: Readonly<Record<string, string | null>>): Leak[] {
  return Object.entries(texts).flatMap(([place, text]) =>
    secrets.flatMap((secret, secretIndex) =>
      listSecretForms(secret).flatMap((form, formIndex) =>
        text?.includes(form) === true ? [{ place, secretIndex, formIndex }] : [],
      ),
    ),
  );
}
