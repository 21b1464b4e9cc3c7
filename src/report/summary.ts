import type { IterationMark } from '../model/evidence.ts';
import type { Report } from '../model/report.ts';
import { renderDocument } from './document/document.ts';
import { fit, ladder, trim } from './document/fit.ts';
import { renderMarkdown } from './markdown.ts';

export interface SummaryOptions {
  /** In bytes of UTF-8. GitHub drops a summary above 1 MiB as a whole; the default stays well below it. */
  maxBytes?: number;
  /** Links to more details, such as the report's artifact. */
  links?: ReadonlyArray<{ label: string; url: string }>;
  /** Returns the URL of a line of a file; null if there is none. */
  linkLine?: (place: { file: string; line: number }) => string | null;
  /** The outcomes of single iterations. */
  iterations?: readonly IterationMark[];
}

/**
 * Renders GitHub's job summary in Markdown: the whole document. A text that is too large has less detail: all cases, those that did not
 * pass, the worst of them, what a comment has, counts.
 */
export function renderSummary(report: Report, options: SummaryOptions = {}): string {
  const { maxBytes = 900 * 1024, links = [], linkLine, iterations = [] } = options;
  const document = renderDocument(report, { iterations, links: links.map((link) => [{ kind: 'link', ...link }]) });
  return fit(ladder, maxBytes, (detail) => renderMarkdown(trim(document, detail), { detail, depth: 2, linkLine }));
}
