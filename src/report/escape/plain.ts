const escape = '\u001B';
const bell = '\u0007';

/**
 * Sequences by which text commands a terminal (ECMA-48): strings such as OSC 8 links up to their terminator, control sequences such as
 * colours, and the short escapes. No part can match across another sequence's start, so the search takes linear time;
 * `stripVTControlCharacters` of node:util does not on a run of unfinished sequences.
 */
const terminalSequences = new RegExp(
  [
    `(?:${escape}[\\]PX^_]|[\\u0090\\u0098\\u009D-\\u009F])\\P{Cc}*(?:${bell}|${escape}\\\\|\\u009C)`,
    `(?:${escape}\\[|\\u009B)[0-?]*[ -/]*[@-~]`,
    `${escape}[ -/]*[0-~]`,
  ].join('|'),
  'gu',
);

/**
 * Removes what no output may contain: terminal sequences, control characters, lone surrogates, and the controls that reorder text
 * (CVE-2021-42574, "Trojan Source"). Keeps tabs, and line ends as `\n`.
 */
export function stripControls(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(terminalSequences, '')
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(/(?![\n\t])\p{Cc}|\p{Bidi_Control}/gu, '');
}

/** Does the same on a single line: every run of line ends and tabs becomes one space. */
export function flattenText(text: string): string {
  return stripControls(text).replaceAll(/[\n\t\u2028\u2029]+/g, ' ');
}

/** Splits text at code between backticks, which the gate's messages use for names and values. Returns the parts in order, without the backticks. */
export function splitCode(text: string): Array<{ text: string; isCode: boolean }> {
  // A group in the separator is part of the result, at each odd index.
  return text
    .split(/`([^`]+)`/)
    .map((part, index) => ({ text: part, isCode: index % 2 === 1 }))
    .filter((part) => part.text !== '');
}
