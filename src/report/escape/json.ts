/**
 * Returns JSON text that means the same and is inert where it is printed: what a terminal would obey and the runner's
 * `##[` are written as escapes. Neither occurs in JSON outside strings.
 */
export function escapeJson(json: string): string {
  return json
    .replaceAll('##[', '#\\u0023[')
    .replaceAll(
      /(?![\n\t])[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu,
      (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
}
