// Draws the shares as bars, for pages with a light and with a dark background.

export interface Point {
  title: string;
  /** Shares, 0 to 1. */
  fails: number;
  reports: number;
}

export const colours = {
  light: { text: '#1f2328', grid: '#d1d9e0', fails: '#0969da', reports: '#9ec9f5' },
  dark: { text: '#f0f6fc', grid: '#3d444d', fails: '#4493f8', reports: '#1f4f87' },
} as const;

const [width, left, rowHeight] = [920, 480, 34];

/** The bar of what a gate fails on lies on that of what it reports, which is never shorter. */
export function drawPlot(points: readonly Point[], theme: keyof typeof colours): string {
  const { text, grid, fails, reports } = colours[theme];
  const height = 40 + points.length * rowHeight;
  const scale = (share: number) => Math.round(share * (width - left - 60) * 10) / 10;
  const lines = [0, 0.25, 0.5, 0.75, 1].map((share) => {
    const x = left + scale(share);
    return `<path d="M${x} 24V${height - 8}" stroke="${grid}"/><text x="${x}" y="16" text-anchor="middle" fill="${text}">${share * 100} %</text>`;
  });
  const bars = points.map((point, index) => {
    const y = 30 + index * rowHeight;
    const bar = (share: number, colour: string) =>
      `<rect x="${left}" y="${y}" width="${scale(share)}" height="20" fill="${colour}"/>`;
    return [
      `<text x="${left - 8}" y="${y + 14}" text-anchor="end" fill="${text}">${escapeXml(point.title.replaceAll('`', ''))}</text>`,
      bar(point.reports, reports),
      bar(point.fails, fails),
      `<text x="${left + scale(point.reports) + 6}" y="${y + 14}" fill="${text}">${Math.round(point.fails * 100)} / ${Math.round(point.reports * 100)}</text>`,
    ].join('');
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" font-family="system-ui, sans-serif" font-size="12">`,
    '<title>Percent of bugs that each gate fails on (dark bar) and reports (pale bar)</title>',
    ...lines,
    ...bars,
    '</svg>\n',
  ].join('\n');
}

export function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
