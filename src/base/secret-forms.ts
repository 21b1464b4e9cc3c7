/** Shorter than this, a value is not replaced: masking `1` or `dev` would shred every line and hide nothing. */
export const shortestSecretLength = 6;

/**
 * Lists how a secret may stand in a text: as it is, decoded, trimmed, line by line, and each of these in the encodings that
 * logs, reports and headers use, once and twice.
 */
export function listSecretForms(value: string): string[] {
  const plains = new Set([value, decode(value), ...value.split(/\r?\n|\r/)].flatMap((plain) => [plain, trim(plain)]));
  const forms = [...plains]
    .filter((plain) => plain.length >= shortestSecretLength)
    .flatMap((plain) => [...listTextForms(plain), ...listHexForms(plain), ...listBase64Forms(plain)]);
  return [...new Set(forms)].filter((form) => form.length >= shortestSecretLength);
}

/** A value that an encoding shortens, such as one in percent-encoding, is its decoded form to whoever decodes it. */
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
