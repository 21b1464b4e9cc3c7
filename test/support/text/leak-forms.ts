/** The encodings of a secret in logs, reports, headers and URLs. They are independent of the project's redactor. */
export const leakEncodings: Readonly<Record<string, (secret: string) => string>> = {
  plain: (secret) => secret,
  base64: (secret) => cutBase64(secret, 0),
  'base64 behind one byte': (secret) => cutBase64(secret, 1),
  'base64 behind two bytes': (secret) => cutBase64(secret, 2),
  base64url: (secret) => cutBase64(secret, 0).replaceAll('+', '-').replaceAll('/', '_'),
  URI: (secret) => encodeURIComponent(secret),
  'URI twice': (secret) => encodeURIComponent(encodeURIComponent(secret)),
  JSON: (secret) => JSON.stringify(secret).slice(1, -1),
  'JSON twice': (secret) => JSON.stringify(JSON.stringify(secret).slice(1, -1)).slice(1, -1),
  XML: (secret) => escapeXml(secret),
  hexadecimal: (secret) => Buffer.from(secret).toString('hex'),
  'command line': (secret) => secret.replaceAll('"', String.raw`\"`),
  shell: (secret) => secret.replaceAll("'", String.raw`'\''`),
};

/** Encodes a secret without the characters at its ends that depend on the bytes next to it. */
function cutBase64(secret: string, shift: number): string {
  const bytes = Buffer.concat([Buffer.alloc(shift, '-'), Buffer.from(secret)]);
  return bytes
    .subarray(0, bytes.length - (bytes.length % 3))
    .toString('base64')
    .slice(shift === 0 ? 0 : 4);
}

function escapeXml(text: string): string {
  const references: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' };
  return text.replaceAll(/[&<>"']/g, (character) => references[character] ?? '');
}

/**
 * Returns a text that starts with a mark, such as `place-7`, and contains secrets in every known encoding. Texts get cut, so the order of the
 * secrets depends on the place.
 */
export function writeSecrets(secrets: readonly string[], place: string): string {
  const encoded = secrets.flatMap((secret) => Object.values(leakEncodings).map((encode) => encode(secret)));
  const first = (Number(/\d+$/.exec(place)?.[0] ?? 0) * 17) % encoded.length;
  return [place, ...encoded.slice(first), ...encoded.slice(0, first)].join(' ');
}

/** Lists the texts that contain a secret, with its encoding; empty if there are none. */
export function findEncodedLeaks(
  secrets: Readonly<Record<string, string>>,
  texts: Readonly<Record<string, string | null>>,
): string[] {
  return Object.entries(texts).flatMap(([place, text]) =>
    Object.entries(secrets).flatMap(([name, secret]) =>
      Object.entries(leakEncodings).flatMap(([encoding, encode]) =>
        text?.includes(encode(secret)) === true ? [`${name} in ${place}, ${encoding}`] : [],
      ),
    ),
  );
}

/** Lists the texts that contain more of a secret than a cut may leave: nine successive characters, in upper or lower case. */
export function findRemnants(
  secrets: Readonly<Record<string, string>>,
  texts: Readonly<Record<string, string | null>>,
): string[] {
  return Object.entries(texts).flatMap(([place, text]) => {
    const lowered = text?.toLowerCase() ?? '';
    return Object.entries(secrets).flatMap(([name, secret]) => {
      const slices = Array.from({ length: secret.length - 8 }, (_, index) => secret.slice(index, index + 9));
      const found = slices.find((slice) => lowered.includes(slice.toLowerCase()));
      return found === undefined ? [] : [`${name} in ${place}`];
    });
  });
}
