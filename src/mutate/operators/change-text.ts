/** Changes one letter or digit in the middle of the longest word of a text; null if it has no word. */
export function changeWord(text: string): string | null {
  const words = [...text.slice(0, 10_000).matchAll(/[\p{L}\p{N}]+/gu)];
  const [longest] = words.toSorted((a, b) => b[0].length - a[0].length);
  if (longest === undefined) return null;
  const at = longest.index + Math.floor(longest[0].length / 2);
  const letter = text[at] ?? '';
  const other = /\d/.test(letter) ? String((Number(letter) + 1) % 10) : letter === 'x' || letter === 'X' ? 'q' : 'x';
  return `${text.slice(0, at)}${other}${text.slice(at + letter.length)}`;
}

/** Drops the last third of a text, or its last line; null if nothing would be left. */
export function cutText(text: string): string | null {
  const lines = text.trimEnd().split('\n');
  if (lines.length > 1) return lines.slice(0, -1).join('\n');
  const whole = text.trimEnd();
  return whole.length < 3 ? null : whole.slice(0, Math.floor((whole.length * 2) / 3));
}

/** Writes capital letters for small ones, and the reverse. */
export function swapCase(text: string): string {
  return text.replaceAll(/\p{L}/gu, (letter) =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
  );
}

/** Changes each digit of a text, but none of the path of the workspace, which says nothing about the server. */
export function changeDigits(text: string, workspace: string | null): string {
  const parts = workspace === null ? [text] : text.split(workspace);
  return parts.map((part) => part.replaceAll(/\d/g, (digit) => String((Number(digit) + 1) % 10))).join(workspace ?? '');
}
