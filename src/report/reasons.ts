import { formatCount } from '../base/text.ts';
import type { Report } from '../model/report.ts';
import { renderCodeSpan, renderProse } from './escape/markdown.ts';
import { keyOutput, type PrintedOutput } from './failures.ts';
import { truncateReason, truncateText } from './truncate.ts';
import { nameReasons } from './wording.ts';

/** The reasons of the verdict, as blocks of Markdown. */
export interface ReasonBlocks {
  /** The decisive reason; empty if there is none. */
  headline: string[];
  /** The last output of the server, if a reason is about its process. */
  output: string[];
  /** A list of the other reasons, and the number of hidden ones; empty if there are none. */
  others: string[];
}

/**
 * Renders at most `maxReasons` of the verdict's reasons, each with its suite if there are several suites. Adds the server's last output to
 * `printed`.
 */
export function renderReasons(
  report: Report,
  { maxReasons, maxTitleLength, maxReasonLength }: Record<'maxReasons' | 'maxTitleLength' | 'maxReasonLength', number>,
  printed: PrintedOutput = new Map(),
): ReasonBlocks {
  const { reasons } = report.verdict;
  const named = nameReasons(report, reasons.slice(0, maxReasons));
  const [headline, ...others] = named.map(
    ({ suiteName, message }) =>
      (suiteName === null ? '' : `${renderCodeSpan(truncateText(suiteName, maxTitleLength))}: `) +
      renderProse(truncateReason(message, maxReasonLength)),
  );
  const hidden = reasons.length - maxReasons;
  const list = [...others, ...(hidden > 0 ? [`and ${formatCount(hidden, 'more reason')}`] : [])];
  const output = named.find((reason) => reason.output.length > 0)?.output ?? [];
  if (output.length > 0) printed.set(keyOutput(output), 'under the verdict');
  return {
    output:
      output.length === 0
        ? []
        : ['The last lines that the server wrote:', output.map((line) => `- ${renderCodeSpan(line)}`).join('\n')],
    headline: headline === undefined ? [] : [`**Why:** ${headline}`],
    others: list.length === 0 ? [] : [list.map((text) => `- ${text}`).join('\n')],
  };
}
