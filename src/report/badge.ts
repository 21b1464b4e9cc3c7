import { formatPassRate } from '../model/rate.ts';
import type { Report } from '../model/report.ts';
import type { VerdictOutcome } from '../model/verdict.ts';
import { escapeXmlAttribute, escapeXmlText } from './escape/xml.ts';

/** White text on these colors has a contrast of at least 4.5 to 1 (WCAG 2.2, 1.4.3). */
const colors: Record<VerdictOutcome, string> = { passed: '#17723a', failed: '#b3261e', inconclusive: '#8a5300' };
const labelColor = '#3d4450';
const label = 'evals';
const height = 20;
const padding = 7;
/** The average width of a character of the 11 pixel font; `textLength` makes any font fit. */
const characterWidth = 6.4;

/** Renders `badge.svg`: the verdict, and the pass rate if there is one. It loads nothing, not even a font. */
export function renderBadge({ verdict: { outcome }, totals }: Report): string {
  // The rate of a part of the iterations would look like a result.
  const rate = outcome === 'inconclusive' || totals.passRate === null ? '' : ` ${formatPassRate(totals.passRate)}`;
  const message = `${outcome}${rate}`;
  const left = measure(label);
  const width = left + measure(message);
  const title = `${label}: ${message}`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" role="img" aria-label="${escapeXmlAttribute(title)}">
  <title>${escapeXmlText(title)}</title>
  <clipPath id="round"><rect width="${width}" height="${height}" rx="3"/></clipPath>
  <g clip-path="url(#round)">
    <rect width="${left}" height="${height}" fill="${labelColor}"/>
    <rect x="${left}" width="${width - left}" height="${height}" fill="${colors[outcome]}"/>
  </g>
  <g fill="#fff" font-family="Verdana, 'DejaVu Sans', sans-serif" font-size="11">
    ${renderText(label, 0)}
    ${renderText(message, left)}
  </g>
</svg>
`;
}

function renderText(text: string, start: number): string {
  const length = measure(text) - 2 * padding;
  return `<text x="${start + padding}" y="14" textLength="${length}" lengthAdjust="spacingAndGlyphs">${escapeXmlText(text)}</text>`;
}

function measure(text: string): number {
  return Math.round(text.length * characterWidth) + 2 * padding;
}
