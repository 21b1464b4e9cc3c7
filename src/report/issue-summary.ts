import { formatCount } from '../base/text.ts';
import type { ConfigurationIssue } from '../base/errors.ts';
import { renderCodeSpan, renderProse } from './escape/markdown.ts';
import { truncateText } from './truncate.ts';
import { outcomeMarks } from './wording.ts';

const maxIssues = 100;
const maxMessageLength = 1000;
const maxLocationLength = 200;

/** Renders what is wrong with the configuration for GitHub's job summary, one line each, in the order of the log. */
export function renderIssueSummary(issues: readonly ConfigurationIssue[]): string {
  const hidden = issues.length - maxIssues;
  const blocks = [
    `## ${outcomeMarks.inconclusive} Eval gate not run`,
    `The configuration has ${formatCount(issues.length, 'problem')}. The gate started nothing and ends with exit code 2.`,
    [
      ...issues.slice(0, maxIssues).map(renderIssue),
      ...(hidden > 0 ? [`- ${formatCount(hidden, 'more problem')}. The log lists them all.`] : []),
    ].join('\n'),
  ];
  return `${blocks.join('\n\n')}\n`;
}

function renderIssue({ file, line, column, input, message }: ConfigurationIssue): string {
  const place = file === undefined ? input : [file, line, column].filter((part) => part !== undefined).join(':');
  const text = renderProse(truncateText(message, maxMessageLength));
  return place === undefined ? `- ${text}` : `- ${renderCodeSpan(truncateText(place, maxLocationLength))}: ${text}`;
}
