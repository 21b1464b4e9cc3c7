const references: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Returns text for an element's content or a quoted attribute. Replaces what HTML would replace or drop. */
export function escapeHtml(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/\p{Noncharacter_Code_Point}|(?![\t\n])\p{Cc}/gu, '\uFFFD')
    .replaceAll(/[&<>"']/g, (character) => references[character] ?? character);
}

/**
 * Returns JSON text with the same meaning that cannot begin or end an element: in a script's content, HTML reads `</script` and `<!--`
 * (§4.12.1.3), and older engines take U+2028 and U+2029 for line ends. JSON has none of them outside strings.
 */
export function escapeScriptJson(json: string): string {
  return json.replaceAll(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
