import type { SurfaceReport, SurfaceSeverity } from '../model/surface-report.ts';

// Imports only types, because the report's page uses these functions, too.

/** The marks by severity, the worst first. */
export const surfaceMarks: Record<SurfaceSeverity, string> = {
  breaking: '✗',
  review: '!',
  additive: '+',
  cosmetic: '·',
};

/** Counts the changes by severity: `1 breaking, 2 review`; `no changes` if there are none. */
export function describeSurface({ configurations, unread }: SurfaceReport): string {
  if (unread !== null) return 'not compared';
  const changes = configurations.flatMap((each) => each.changes);
  const parts = Object.keys(surfaceMarks).flatMap((severity) => {
    const { length } = changes.filter((change) => change.severity === severity);
    return length === 0 ? [] : [`${length} ${severity}`];
  });
  return parts.length === 0 ? 'no changes' : parts.join(', ');
}

/** Formats the size of the tools in bytes, and the difference from before. */
export function describeSize({ bytes, bytesBefore }: { bytes: number; bytesBefore: number | null }): string {
  const size = `${bytes} bytes`;
  if (bytesBefore === null || bytes === bytesBefore) return size;
  return `${size} (${bytes > bytesBefore ? '+' : '−'}${Math.abs(bytes - bytesBefore)})`;
}

/** Lists how much of each tool a model reads, in bytes, by the name of the tool; with several configurations, their names come first. */
export function listToolBytes({ configurations }: SurfaceReport): Record<string, number> {
  return Object.fromEntries(
    configurations.flatMap(({ name, tools }) =>
      tools.map((tool) => [configurations.length > 1 ? `${name}/${tool.name}` : tool.name, tool.bytes]),
    ),
  );
}
