/**
 * Returns JSON text with the same meaning that is safe to print: escapes what a terminal would obey, and the runner's `##[`. JSON has
 * neither outside strings.
 */
export function escapeJson(json: string): string {
  return json
    .replaceAll('##[', '#\\u0023[')
    .replaceAll(
      /(?![\n\t])[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu,
      (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
}
