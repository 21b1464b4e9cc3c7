import { createSecretFinder } from './secret-finder.ts';

const replacement = '***';

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

  /** Replaces the output of Node's inspector, so that a dumped options object shows no secret. */
  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return replacement;
  }
}

/** Knows the secrets of this process and removes them from any text that leaves it. */
export interface Redactor {
  /** Registers a secret and its encoded forms. Multi-line values are registered line by line, too. */
  add(secret: Secret): void;
  /** Also removes the rest of a random token that was cut, down to nine characters of its beginning or end. */
  redact(text: string): string;
}

/** Makes a redactor, which hides secrets in texts. */
export function createRedactor(secrets: readonly Secret[] = []): Redactor {
  const finder = createSecretFinder();
  for (const secret of secrets) finder.add(secret.reveal());
  return {
    add: (secret) => finder.add(secret.reveal()),
    redact: (text) => {
      let clean = '';
      let end = 0;
      for (const range of finder.find(text)) {
        clean += text.slice(end, range.start) + replacement;
        end = range.end;
      }
      return end === 0 ? text : clean + text.slice(end);
    },
  };
}

/**
 * Returns a copy of plain data in which every text is redacted, names of members included. Redact before renderers cut and escape values:
 * afterwards, a redactor cannot recognize what is left of a secret.
 */
export function redactDeep<T>(value: T, redactor: Redactor): T;
export function redactDeep(value: unknown, redactor: Redactor): unknown {
  if (typeof value === 'string') return redactor.redact(value);
  if (Array.isArray(value)) return value.map((item) => redactDeep(item, redactor));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [redactor.redact(name), redactDeep(item, redactor)]),
  );
}

const sensitiveKey = /authorization|bearer|passw|secret|token|api[-_ ]?key|cookie|credential|private[-_ ]?key/i;

/** Checks if the value of a member with this name may be a secret. */
export function isSensitiveKey(key: string): boolean {
  return sensitiveKey.test(key);
}
