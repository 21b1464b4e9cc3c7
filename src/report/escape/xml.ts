/** Everything outside the `Char` production of XML 1.0 (§2.2), lone surrogates included. */
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

/** Returns character data for an element. `>` is escaped too, so that no `]]>` can occur (XML 1.0 §2.4). */
export function escapeXmlText(text: string): string {
  // Controls of terminals and of the direction of text are inert as references (CVE-2021-42574).
  // Parsers turn other line ends into line feeds (§2.11, and XML 1.1's two more); a reference survives.
  return replaceByReference(text, /[&<>\r\u007F-\u009F\u2028\p{Bidi_Control}]/gu); // oxlint-disable-line no-control-regex
}

/** Returns a value for a double-quoted attribute; white space is kept by reference, as parsers normalise it (§3.3.3). */
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
