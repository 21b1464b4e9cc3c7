const replacement = '***';

/** Shorter than this, a value is not replaced: masking `1` or `dev` would shred every line and hide nothing. */
export const shortestSecretLength = 6;

/** A value that must not be printed. `reveal()` is the only way out, so that every use of it can be found. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return replacement;
  }

  toJSON(): string {
    return replacement;
  }

  /** What Node's inspector prints, so that a dumped options object stays clean. */
  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return replacement;
  }
}

/** Knows the secrets of this process and takes them out of any text that leaves it. */
export interface Redactor {
  /** Registers a secret, and the forms it takes when encoded. Multi-line values are registered line by line too. */
  add(secret: Secret): void;
  redact(text: string): string;
}

export function createRedactor(secrets: readonly Secret[] = []): Redactor {
  // Longest first, so that a secret that contains another is replaced whole.
  let forms: string[] = [];
  const add = (secret: Secret) => {
    forms = [...new Set([...forms, ...listSecretForms(secret.reveal())])].toSorted((a, b) => b.length - a.length);
  };
  for (const secret of secrets) add(secret);
  return { add, redact: (text) => forms.reduce((clean, form) => clean.replaceAll(form, replacement), text) };
}

/**
 * Returns a copy of plain data in which every text is redacted. For values that renderers cut later: a cut through a
 * secret leaves a part that no redactor knows.
 */
export function redactDeep<T>(value: T, redactor: Redactor): T;
export function redactDeep(value: unknown, redactor: Redactor): unknown {
  if (typeof value === 'string') return redactor.redact(value);
  if (Array.isArray(value)) return value.map((item) => redactDeep(item, redactor));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, redactDeep(item, redactor)]));
}

function listSecretForms(value: string): string[] {
  const lines = value.split(/\r?\n/);
  return [...new Set([value, ...lines])]
    .filter((plain) => plain.length >= shortestSecretLength)
    .flatMap((plain) => [
      plain,
      encodeURIComponent(plain.toWellFormed()),
      JSON.stringify(plain).slice(1, -1),
      plain.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;'),
      ...listBase64Forms(plain),
    ]);
}

/**
 * Base64 of a text depends on where it falls in the encoded stream, so all three alignments are listed, without the
 * characters at either end that neighbouring bytes would change.
 */
function listBase64Forms(plain: string): string[] {
  return [0, 1, 2].flatMap((shift) => {
    const bytes = Buffer.concat([Buffer.alloc(shift), Buffer.from(plain)]);
    const whole = bytes.subarray(0, bytes.length - (bytes.length % 3)).toString('base64');
    const stable = whole.slice(shift === 0 ? 0 : 4);
    return stable.length < shortestSecretLength ? [] : [stable, stable.replaceAll('+', '-').replaceAll('/', '_')];
  });
}
