/** Everything outside the `Char` production of XML 1.0 (§2.2), including lone surrogates. */
const illegalCharacters = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;

const references: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
  '\t': '&#9;',
  '\n': '&#10;',
  '\r': '&#13;',
};

/** Returns character data for an element. Escapes `>` too, so that no `]]>` can occur (XML 1.0 §2.4). */
export function escapeXmlText(text: string): string {
  // Writes controls of terminals and of text direction as references, which have no effect (CVE-2021-42574). Parsers turn other line ends
  // into line feeds (§2.11, and XML 1.1's two more); a reference survives.
  return replaceByReference(text, /[&<>\r\u007F-\u009F\u2028\p{Bidi_Control}]/gu); // oxlint-disable-line no-control-regex
}

/** Returns a value for a double-quoted attribute. Keeps white space by reference, since parsers normalise it (§3.3.3). */
export function escapeXmlAttribute(text: string): string {
  return replaceByReference(text, /[&<>"'\t\n\r\u007F-\u009F\u2028\p{Bidi_Control}]/gu); // oxlint-disable-line no-control-regex
}

function replaceByReference(text: string, characters: RegExp): string {
  return text
    .replaceAll(illegalCharacters, '\uFFFD')
    .replaceAll(
      characters,
      (character) => references[character] ?? `&#x${character.charCodeAt(0).toString(16).toUpperCase()};`,
    );
}
