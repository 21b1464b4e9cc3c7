/** Shorter than this, a value is not replaced: masking `1` or `dev` would shred every line and hide nothing. */
export const shortestSecretLength = 6;

/** What a cut may leave of a secret without being found. */
export const longestRemnant = 8;

/** One way in which a secret may stand in a text. */
export interface SecretForm {
  text: string;
  /** Whether a part of it distinguishes it from all other text, so that a secret cut short is still recognised. */
  isRandom: boolean;
  /** How long a beginning must be to identify it: longer than what may be left, and than what its issuer puts before all. */
  shortestBeginning: number;
}

/**
 * Lists how a secret may stand in a text: as it is, decoded, trimmed, line by line, and each of these in the encodings that
 * logs, reports and headers use, once and twice.
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
 * Whether a part of the value distinguishes it from other text. That of a path, a URL or a name does not: the beginning of
 * `production-eu-west-1` stands in many a sentence.
 */
function isRandomToken(value: string): boolean {
  if (uuid.test(value)) return true;
  if (!/^[\w.~+/=-]{20,}$/.test(value) || /^[./~]|\/\//.test(value)) return false;
  return value.split(/[-./_~]/).some((part) => part.length >= 16 && /\d/.test(part) && /[A-Za-z]/.test(part));
}

const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** `github_pat_` and `sk-ant-api03-` stand in many a sentence, too. */
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

/** Without the white space around it, and without the quotes that the one who stored it may have kept. */
function trim(plain: string): string {
  return plain.trim().replace(/^(["'])(.*)\1$/s, '$2');
}

const replaceEach = (text: string, references: Readonly<Record<string, string>>) =>
  text.replaceAll(/[&<>"']/g, (character) => references[character] ?? character);

const encodeUri = (text: string) => encodeURIComponent(text.toWellFormed());
const encodeJson = (text: string) => JSON.stringify(text).slice(1, -1);
const xmlText = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
const encodeXml = (text: string) => replaceEach(text, { ...xmlText, '"': '&quot;', "'": '&apos;' });

/** Those that one meets inside each other: JSON in a URL, a message in JSON in XML. */
const nested = [encodeUri, encodeJson, encodeXml];

const encoders: ReadonlyArray<(text: string) => string> = [
  ...nested,
  // RFC 3986 §2.2 reserves five characters more than JavaScript encodes; forms of HTML write a blank as a plus.
  (text) => encodeUri(text).replaceAll(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`),
  (text) => encodeUri(text).replaceAll('%20', '+'),
  (text) => encodeUri(text).replaceAll(/%../g, (code) => code.toLowerCase()),
  // As Go writes JSON, and others that expect it inside a page.
  (text) => replaceEach(encodeJson(text), { '&': '\\u0026', '<': '\\u003c', '>': '\\u003e' }),
  (text) => replaceEach(text, xmlText),
  (text) => replaceEach(text, { ...xmlText, '"': '&quot;' }),
  (text) => replaceEach(text, { ...xmlText, '"': '&quot;', "'": '&#39;' }),
  // On a command line, in a workflow's expression, in a POSIX shell.
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
 * Base64 of a text depends on where it falls in the encoded stream, so all three alignments are listed, without the
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
