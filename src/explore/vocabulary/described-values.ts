/** A text within quotes; longer ones are sentences. */
const quoted = /(?<![\w])(['"`])([^'"`\n]{1,80})\1(?![\w])/g;

/** A list after "e.g.", up to the end of its bracket or sentence. */
const examples =
  /\b(?:e\.g\.|eg\.|for example|examples?|such as|like|one of|either|options(?: are)?|values(?: are)?|supported|accepts?)[,:]?\s+([^()\n]{1,200}?)(?:\)|\.\s|\.$|;|$)/gi;

const allowedWord = /^[\w@#.:/*+%-]{1,40}$/;

/** Finds values that a description names: in quotes, and in lists after "e.g." and the like. */
export function findDescribedValues(description: string): string[] {
  const inQuotes = [...description.matchAll(quoted)].map(([, , text]) => text ?? '');
  const inLists = [...description.matchAll(examples)].flatMap(([, list = '']) =>
    list
      .split(/,|\bor\b|\band\b|\|/)
      .map((part) => part.trim().replaceAll(/^['"`]|['"`]$/g, ''))
      .filter((part) => allowedWord.test(part)),
  );
  return [...new Set([...inQuotes, ...inLists])].filter((text) => text.trim() !== '');
}

/** Reads a described text as a value of a type; undefined if it is none. */
export function readAs(type: string | undefined, text: string): unknown {
  if (type === 'number' || type === 'integer') {
    const number = Number(text);
    return text.trim() !== '' && Number.isFinite(number) && (type === 'number' || Number.isInteger(number))
      ? number
      : undefined;
  }
  if (type === 'boolean') return text === 'true' ? true : text === 'false' ? false : undefined;
  return type === undefined || type === 'string' ? text : undefined;
}
