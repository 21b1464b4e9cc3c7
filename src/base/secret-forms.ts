/** Shorter than this, a value is not replaced: masking `1` or `dev` would shred every line and hide nothing. */
export const shortestSecretLength = 6;

/** The most characters of a cut secret that may stay in a text unnoticed. */
export const longestRemnant = 8;

/** A form in which a secret may occur in a text. */
export interface SecretForm {
  text: string;
  /** True if a part of it is unique enough to recognize the secret after a cut. */
  isRandom: boolean;
  /** The shortest beginning that identifies the form: longer than an unnoticed rest, and longer than the prefix of its issuer. */
  shortestBeginning: number;
}

/**
 * Lists the forms of a secret in a text: as it is, decoded, trimmed, line by line, and each of these in the encodings that logs, reports
 * and headers use, applied once and twice.
 */
export function listSecretForms(value: string): SecretForm[] {
  const wholes = [value, decode(value), ...value.split(/\r?\n|\r/), ...listPasswords(value)];
  const plains = new Set(wholes.flatMap((plain) => [plain, trim(plain)]));
  return [...plains]
    .filter((plain) => plain.length >= shortestSecretLength)
    .flatMap((plain) => {
      const isRandom = isRandomToken(plain);
      const encoded = [...listTextForms(plain), ...listHexForms(plain), ...listBase64Forms(plain)];
      return encoded.map((text) => ({ text, isRandom, shortestBeginning: measureBeginning(text) }));
    })
    .filter(({ text }) => text.length >= shortestSecretLength);
}

/**
 * Checks if a part of the value is unlike all other text. Parts of a path, a URL or a name are not: the beginning of
 * `production-eu-west-1` occurs in ordinary sentences.
 */
export function isRandomToken(value: string): boolean {
  if (uuid.test(value)) return true;
  if (!/^[\w.~+/=-]{20,}$/.test(value) || /^[./~]|\/\//.test(value)) return false;
  return value.split(/[-./_~]/).some((part) => part.length >= 16 && /\d/.test(part) && /[A-Za-z]/.test(part));
}

const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** Excludes prefixes such as `github_pat_` and `sk-ant-api03-`, which occur in ordinary sentences, too. */
function measureBeginning(form: string): number {
  const [issuer = ''] = /^(?:[a-z]{2,}\d{0,2}[-_])*/.exec(form) ?? [];
  return Math.max(longestRemnant, issuer.length) + 1;
}

/** A client that connects to a URL with a password may print the password alone. */
function listPasswords(value: string): string[] {
  const password = value.includes('://') ? (URL.parse(value)?.password ?? '') : '';
  return [password, decode(password)];
}

/** A value that an encoding shortens, such as one in percent-encoding, also appears in its decoded form. */
function decode(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

/** Removes the white space around it, and quotes that were stored with the value. */
function trim(plain: string): string {
  return plain.trim().replace(/^(["'])(.*)\1$/s, '$2');
}

const replaceEach = (text: string, references: Readonly<Record<string, string>>) =>
  text.replaceAll(/[&<>"']/g, (character) => references[character] ?? character);

const encodeUri = (text: string) => encodeURIComponent(text.toWellFormed());
const encodeJson = (text: string) => JSON.stringify(text).slice(1, -1);
const xmlText = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
const encodeXml = (text: string) => replaceEach(text, { ...xmlText, '"': '&quot;', "'": '&apos;' });

/** The encodings that occur inside each other: JSON in a URL, a message in JSON in XML. */
const nested = [encodeUri, encodeJson, encodeXml];

const encoders: ReadonlyArray<(text: string) => string> = [
  ...nested,
  // RFC 3986 §2.2 reserves five characters that JavaScript does not encode; HTML forms write a blank as a plus.
  (text) => encodeUri(text).replaceAll(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`),
  (text) => encodeUri(text).replaceAll('%20', '+'),
  (text) => encodeUri(text).replaceAll(/%../g, (code) => code.toLowerCase()),
  // Go and others write JSON like this, so that it can stand inside a page.
  (text) => replaceEach(encodeJson(text), { '&': '\\u0026', '<': '\\u003c', '>': '\\u003e' }),
  (text) => replaceEach(text, xmlText),
  (text) => replaceEach(text, { ...xmlText, '"': '&quot;' }),
  (text) => replaceEach(text, { ...xmlText, '"': '&quot;', "'": '&#39;' }),
  // For a command line, an expression of a workflow, and a POSIX shell.
  (text) => text.replaceAll('"', '\\"'),
  (text) => text.replaceAll("'", "''"),
  (text) => text.replaceAll("'", String.raw`'\''`),
];

function listTextForms(plain: string): string[] {
  return [
    plain,
    ...encoders.map((encode) => encode(plain)),
    ...nested.flatMap((outer) => nested.map((inner) => outer(inner(plain)))),
  ];
}

function listHexForms(plain: string): string[] {
  const hex = Buffer.from(plain).toString('hex');
  return [hex, hex.toUpperCase()];
}

/**
 * Lists all three alignments of the base64 form, since it depends on the position of the text in the encoded stream. Leaves out the
 * characters at either end that neighbouring bytes would change.
 */
function listBase64Forms(plain: string): string[] {
  return [0, 1, 2].flatMap((shift) => {
    const bytes = Buffer.concat([Buffer.alloc(shift), Buffer.from(plain)]);
    const whole = bytes.subarray(0, bytes.length - (bytes.length % 3)).toString('base64');
    const stable = whole.slice(shift === 0 ? 0 : 4);
    return [stable, stable.replaceAll('+', '-').replaceAll('/', '_')];
  });
}
