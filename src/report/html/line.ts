import type { Line, Mark, Span } from '../document/block.ts';
import { escapeHtml } from '../escape/html.ts';
import { flattenText, splitCode } from '../escape/plain.ts';
import { truncateText } from '../truncate.ts';

const maxLength = 500;

export const marks: Record<Mark, string> = { passed: '✓', failed: '✗', inconclusive: '?', added: '+', minor: '·' };

/** Renders a line as HTML. Foreign text is isolated, so that its direction does not change the text around it. */
export function renderLine(line: Line): string {
  return line.map(renderSpan).join('');
}

function renderSpan(span: Span): string {
  if (typeof span === 'string') return escapeHtml(span);
  switch (span.kind) {
    case 'name':
      return `<b><bdi>${renderText(span.text)}</bdi></b>`;
    case 'prose':
      return `<bdi>${renderProse(span.text)}</bdi>`;
    case 'code':
      return `<code>${renderText(span.text)}</code>`;
    case 'strong':
      return `<b>${escapeHtml(span.text)}</b>`;
    case 'link':
      return renderText(`${span.label}: ${span.url}`);
    case 'place':
      return `<bdi>${renderText(`${span.place.file}:${span.place.line}`)}</bdi>`;
    case 'mark':
      return marks[span.mark];
  }
}

/** Renders foreign text on one line. */
export function renderText(text: string): string {
  return escapeHtml(truncateText(flattenText(text), maxLength));
}

/** Renders a sentence like `renderText`: text between backticks is code. */
function renderProse(text: string): string {
  const render = (part: string, isCode: boolean) => (isCode ? `<code>${escapeHtml(part)}</code>` : escapeHtml(part));
  return splitCode(truncateText(flattenText(text), maxLength))
    .map((part) => render(part.text, part.isCode))
    .join('');
}
