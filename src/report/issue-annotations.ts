import { formatCount } from '../base/count.ts';
import type { ConfigurationIssue } from '../base/errors.ts';
import type { Annotation } from './annotations.ts';
import { stripControls } from './escape/plain.ts';
import { truncateText } from './truncate.ts';

/** GitHub keeps ten annotations of a level per step. */
const maxAnnotations = 10;
const maxMessageLength = 4000;

/** Plans at most ten annotations for what is wrong with the configuration, each at its place where it has one. */
export function planIssueAnnotations(issues: readonly ConfigurationIssue[]): Annotation[] {
  const shown = issues.length > maxAnnotations ? issues.slice(0, maxAnnotations - 1) : issues;
  const hidden = issues.length - shown.length;
  return [
    ...shown.map(annotateIssue),
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

function annotateIssue({ code, message, input, file, line }: ConfigurationIssue): Annotation {
  return {
    level: 'error',
    title: file === undefined ? `Input ${input ?? ''} (${code})` : `Evals file (${code})`,
    message: truncateText(stripControls(message), maxMessageLength),
    ...(file === undefined || line === undefined ? {} : { file, startLine: line }),
  };
}
