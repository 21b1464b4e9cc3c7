import { formatCount } from '../base/text.ts';
import type { ConfigurationIssue } from '../base/errors.ts';
import { type Annotation, isInWorkspace } from './annotations.ts';
import { stripControls } from './escape/plain.ts';
import { truncateText } from './truncate.ts';

/** GitHub keeps ten annotations of a level per step. */
const maxAnnotations = 10;
const maxMessageLength = 4000;
const maxPlaceLength = 200;

/** Plans at most ten annotations for what is wrong with the configuration, each at its place where it has one. */
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
  const message = truncateText(stripControls(issue.message), maxMessageLength);
  if (file === undefined) return { level: 'error', title: `Input ${input ?? ''} (${code})`, message };
  if (line !== undefined && isInWorkspace(file) && fileExists(file)) {
    return { level: 'error', title: `Evals file (${code})`, message, file, startLine: line };
  }
  const place = stripControls([file, line].filter((part) => part !== undefined).join(':'));
  return { level: 'error', title: `${truncateText(place, maxPlaceLength)} (${code})`, message };
}
