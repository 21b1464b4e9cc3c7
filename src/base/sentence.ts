/** Ends a sentence whose last words came from elsewhere, and may have brought their full stop along. */
export function endSentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
