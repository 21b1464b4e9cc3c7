/** Stands where a text was cut. A redactor knows by it that what stands before may be the beginning of a secret. */
export const cutMark = '…';

/** Cuts a text to at most `maxLength` UTF-16 units, the mark at its end included. */
export function clipText(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength - cutMark.length).toWellFormed()}${cutMark}`;
}
