/** Quotes a word for a POSIX shell, so that the shell passes it on unchanged. */
export function quoteShellWord(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word;
  // A shell leaves these characters within double quotes as they are. An interactive one expands an exclamation mark there.
  if (/^[\w@%+=:,./ '()[\]{}<>;|&*?#~^-]*$/.test(word)) return `"${word}"`;
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

/** Checks if a person can copy a text as it is shown: no character in it is invisible, breaks the line or moves text. */
export function isCopyable(text: string): boolean {
  return !/[\p{Cc}\p{Cs}\p{Cf}\p{Zl}\p{Zp}]/u.test(text);
}
