/** Other words for those that stand for any content, for a second thing with the name of the first. */
export const otherContent: ReadonlyMap<string, string> = new Map([
  ['gamma', 'zeta'],
  ['delta epsilon', 'eta theta'],
]);

/** Words that name a second and a third thing. */
export const otherNames = ['omega', 'kappa'] as const;

const namesOfNames = /(?:name|title|id|key|slug|subject)$/i;

/** Finds the text that names a thing: the one whose member is called so, or else the first one. */
export function findName<Text extends { path: readonly PropertyKey[] }>(texts: readonly Text[]): Text | undefined {
  return texts.find(({ path }) => namesOfNames.test(String(path.at(-1)))) ?? texts[0];
}

/** Writes a word with the first letter as large as that of another one. */
export const takeCase = (word: string, like: string): string =>
  like === like.toLowerCase() ? word : `${word.charAt(0).toUpperCase()}${word.slice(1)}`;

/** Writes another content for a text that stands for any, or else another name for a word; null for what is neither. */
export function writeOther(text: string): string | null {
  return otherContent.get(text) ?? writeOtherName(text, 0);
}

/** Writes the name of a second or a third thing for a word; null for what is none. */
export function writeOtherName(text: string, index: 0 | 1): string | null {
  return /^\p{L}+$/u.test(text) ? takeCase(otherNames[index], text) : null;
}
