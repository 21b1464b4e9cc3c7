import { formatCount } from '../base/text.ts';
import type { ConfigurationIssue } from '../base/errors.ts';
import { type Annotation, isInWorkspace } from './annotations.ts';
import { asName, asProse, type Block, type Line, list, text } from './document/block.ts';
import { frame } from './document/fit.ts';
import { composeTitle } from './document/verdict.ts';
import { renderMarkdown } from './markdown.ts';
import { stripControls } from './escape/plain.ts';
import { truncateText } from './truncate.ts';

const maxIssues = 100;
const maxMessageLength = 1000;

/** Renders the problems of the configuration for GitHub's job summary, one line each, in the order of the log. */
export function renderIssueSummary(issues: readonly ConfigurationIssue[]): string {
  const hidden = issues.length - maxIssues;
  const blocks: Block[] = [
    composeTitle('inconclusive', 'Eval gate not run'),
    text(
      'title',
      `The configuration has ${formatCount(issues.length, 'problem')}. The gate started nothing and ends with exit code 2.`,
    ),
    list(
      'title',
      [
        ...issues.slice(0, maxIssues).map(describeIssue),
        ...(hidden > 0 ? [[`${formatCount(hidden, 'more problem')}. The log lists them all.`]] : []),
      ],
      { noun: 'problem' },
    ),
  ];
  return renderMarkdown(blocks, { detail: { ...frame, prose: maxMessageLength }, depth: 2 });
}

function describeIssue({ file, line, column, input, message }: ConfigurationIssue): Line {
  const place = file === undefined ? input : [file, line, column].filter((part) => part !== undefined).join(':');
  const problem = asProse(message);
  return place === undefined ? [problem] : [asName(place), ': ', problem];
}

/** GitHub keeps ten annotations of a level per step. */
const maxAnnotations = 10;
const maxAnnotationLength = 4000;
const maxPlaceLength = 200;

/** Plans at most ten annotations for the problems of the configuration, each at its location if it has one. */
export function planIssueAnnotations(
  issues: readonly ConfigurationIssue[],
  options: { fileExists?: (path: string) => boolean } = {},
): Annotation[] {
  const shown = issues.length > maxAnnotations ? issues.slice(0, maxAnnotations - 1) : issues;
  const hidden = issues.length - shown.length;
  return [
    ...shown.map((issue) => annotateIssue(issue, options.fileExists ?? (() => true))),
    ...(hidden === 0
      ? []
      : [
          {
            level: 'error' as const,
            title: `+${formatCount(hidden, 'more problem')}`,
            message: 'The log lists them all.',
          },
        ]),
  ];
}

function annotateIssue(issue: ConfigurationIssue, fileExists: (path: string) => boolean): Annotation {
  const { code, input, file, line } = issue;
  const message = truncateText(stripControls(issue.message), maxAnnotationLength);
  if (file === undefined) return { level: 'error', title: `Input ${input ?? ''} (${code})`, message };
  if (line !== undefined && isInWorkspace(file) && fileExists(file)) {
    return { level: 'error', title: `Evals file (${code})`, message, file, startLine: line };
  }
  const place = stripControls([file, line].filter((part) => part !== undefined).join(':'));
  return { level: 'error', title: `${truncateText(place, maxPlaceLength)} (${code})`, message };
}
