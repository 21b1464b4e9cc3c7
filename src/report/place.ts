import { renderCodeSpan, renderLink } from './escape/markdown.ts';
import { truncateText } from './truncate.ts';

const maxLength = 120;

/** Renders the place of a case as Markdown, as a link where its line is shown. */
export function renderPlace(
  place: { file: string; line: number },
  linkLine: ((place: { file: string; line: number }) => string | null) | undefined,
): string {
  const label = truncateText(`${place.file}:${place.line}`, maxLength);
  const url = linkLine?.(place) ?? null;
  return url === null ? renderCodeSpan(label) : renderLink(label, url);
}
