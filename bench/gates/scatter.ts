// Draws the share of bugs caught by the strength of evals, for pages with a light and with a dark background.
import { colours, escapeXml } from './plot.ts';

/** A share with its interval, all 0 to 1. */
interface Share {
  passed: number;
  total: number;
  rate: number;
  lower: number;
  upper: number;
}

export interface ScatterPoint {
  server: string;
  contestant: string;
  noticed: Share;
  caught: Share;
}

const [width, height, margin] = [640, 480, 56];
const [letterWidth, lineHeight] = [7, 22];

interface Label {
  left: number;
  top: number;
  length: number;
}

const overlap = (one: Label, other: Label) =>
  Math.abs(one.top - other.top) < lineHeight &&
  one.left < other.left + other.length &&
  other.left < one.left + one.length;

/** Each point has a line for each of its two intervals. The gates of this project's own evals differ by their shape. */
export function drawScatter(points: readonly ScatterPoint[], theme: keyof typeof colours): string {
  const { text, grid, fails } = colours[theme];
  const round = (value: number) => Math.round(value * 10) / 10;
  const x = (share: number) => round(margin + share * (width - 2 * margin));
  const y = (share: number) => round(height - margin - share * (height - 2 * margin));
  const lines = [0, 0.25, 0.5, 0.75, 1].flatMap((share) => [
    `<path d="M${x(share)} ${y(0)}V${y(1)}M${x(0)} ${y(share)}H${x(1)}" stroke="${grid}" fill="none"/>`,
    `<text x="${x(share)}" y="${y(0) + 16}" text-anchor="middle" fill="${text}">${share * 100} %</text>`,
    `<text x="${x(0) - 6}" y="${y(share) + 4}" text-anchor="end" fill="${text}">${share * 100} %</text>`,
  ]);
  const gates = [...new Set(points.map(({ contestant }) => contestant))].toSorted();
  const placed: Label[] = [];
  const marks = points.map(({ server, contestant, noticed, caught }) => {
    const [left, top] = [x(noticed.rate), y(caught.rate)];
    const name = `${server}, ${contestant}`;
    const label = { left: left + 7, top: top - 6, length: name.length * letterWidth };
    // Below the point, if the name of another one is above it.
    while (placed.some((other) => overlap(label, other))) label.top += lineHeight;
    placed.push(label);
    const mark =
      gates.indexOf(contestant) === 0
        ? `<circle cx="${left}" cy="${top}" r="4" fill="${fails}"/>`
        : `<rect x="${left - 4}" y="${top - 4}" width="8" height="8" fill="${fails}"/>`;
    return [
      `<path d="M${x(noticed.lower)} ${top}H${x(noticed.upper)}M${left} ${y(caught.lower)}V${y(caught.upper)}" stroke="${fails}" opacity="0.5"/>`,
      mark,
      `<text x="${label.left}" y="${label.top}" fill="${text}">${escapeXml(name)}</text>`,
    ].join('');
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" font-family="system-ui, sans-serif" font-size="12">`,
    '<title>Percent of bugs that each gate fails on, by the percent of harmful changes that its evals notice</title>',
    ...lines,
    `<text x="${width / 2}" y="${height - 12}" text-anchor="middle" fill="${text}">Harmful changes that the evals notice</text>`,
    `<text x="14" y="${height / 2}" text-anchor="middle" fill="${text}" transform="rotate(-90 14 ${height / 2})">Bugs that the gate fails on</text>`,
    ...marks,
    '</svg>\n',
  ].join('\n');
}
