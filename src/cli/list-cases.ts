import { formatCount } from '../base/text.ts';
import type { ListedJob } from '../gate/preview.ts';
import { escapeTerminalText } from '../report/escape/log.ts';
import type { OutputFormat } from './format-flag.ts';

/** Prints the cases that a run would take: a line each, or one JSON value. */
export function printCases({ cases, storedSuites }: ListedJob, format: OutputFormat): string[] {
  if (format === 'json') return [JSON.stringify({ cases, storedSuites }, null, 2)];
  return [
    ...cases.map(({ file, line, title, tags }) => {
      const words = tags.length === 0 ? '' : `  [${tags.join(', ')}]`;
      return escapeTerminalText(`${file}:${line}  ${title}${words}`);
    }),
    ...storedSuites.map((suite) => escapeTerminalText(`The suite ${suite} of the service, as it stands.`)),
    `${formatCount(cases.length, 'case')} in ${formatCount(new Set(cases.map(({ file }) => file)).size, 'file')}.`,
  ];
}
