import { findProse } from './source-prose.ts';

/** A word that this project avoids, with its line. `line` counts from 1. */
export interface WordingIssue {
  line: number;
  word: string;
  instead: string;
}

/** Words that this project avoids in all their meanings, each with its replacement. */
const rules: readonly { pattern: string; instead: string }[] = [
  { pattern: 'whoever|whomever|nobody|otherUser|anybody', instead: 'name the actor' },
  { pattern: 'ours|theirs', instead: 'name the owner: the gate, the service, the user' },
  { pattern: 'what (?:comes|came|becomes|became) of|what it came to', instead: 'results, outcome' },
  { pattern: 'tells|told', instead: 'reports, writes, posts, says; “distinguishes” for “tells apart”' },
  { pattern: 'in (?:the )?place of', instead: 'instead of' },
  { pattern: 'besides?', instead: 'next to, in addition to, other than' },
  { pattern: '(?:stands?|stood|standing) idle', instead: 'is ignored' },
  { pattern: '(?:leaves?|leaving|left) alone', instead: 'is unchanged, is skipped' },
  { pattern: 'the one that counts', instead: 'the effective …' },
  { pattern: 'leftovers?', instead: 'resources to clean up, cleanup journal' },
  { pattern: 'call(?:s|ed|ing)? off', instead: 'cancel' },
  { pattern: 'looked (?:at|after)', instead: 'checked, polled' },
  { pattern: 'unsteady', instead: 'flaky' },
];

/** Checks Markdown outside its code, and YAML outside of backticks. */
export function checkText(text: string): WordingIssue[] {
  const prose = text
    .replaceAll(/^( *)(```+|~~~+)[^]*?^\1\2/gm, blank)
    .replaceAll(/`[^`\n]*`/g, blank)
    .replaceAll(/^ *[>#]/gm, blank);
  return findIssues(prose);
}

/** Checks the comments and strings of TypeScript. Names in backticks count as code. */
export function checkTypeScript(source: string): WordingIssue[] {
  let prose = '';
  let at = 0;
  for (const { start, end } of findProse(source).toSorted((one, other) => one.start - other.start)) {
    prose += blank(source.slice(at, start)) + source.slice(start, end);
    at = end;
  }
  const unmarked = prose.replaceAll(/^ *(?:\/\/|\*)/gm, blank).replaceAll(/\\?`[^`\n\s]*`/g, blank);
  return findIssues(unmarked);
}

function findIssues(prose: string): WordingIssue[] {
  return rules
    .flatMap(({ pattern, instead }) =>
      [...prose.matchAll(new RegExp(`\\b(?:${pattern.replaceAll(' ', String.raw`\s+`)})\\b`, 'gi'))].map((match) => ({
        line: prose.slice(0, match.index).split('\n').length,
        word: match[0].replaceAll(/\s+/g, ' '),
        instead,
      })),
    )
    .toSorted((one, other) => one.line - other.line);
}

/** Keeps the line breaks, so that lines keep their numbers. */
function blank(text: string): string {
  return text.replaceAll(/[^\n]/g, ' ');
}
