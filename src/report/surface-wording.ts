import type { SurfaceReport, SurfaceSeverity } from '../model/surface-report.ts';

// Types alone are imported: the page of the report uses these functions, too.

/** Worst first. */
export const surfaceMarks: Record<SurfaceSeverity, string> = {
  breaking: '✗',
  review: '!',
  additive: '+',
  cosmetic: '·',
};

/** Counts the changes by severity: `1 breaking, 2 review`; `no changes` where there are none. */
export function describeSurface({ configurations, unread }: SurfaceReport): string {
  if (unread !== null) return 'not known';
  const changes = configurations.flatMap((each) => each.changes);
  const parts = Object.keys(surfaceMarks).flatMap((severity) => {
    const { length } = changes.filter((change) => change.severity === severity);
    return length === 0 ? [] : [`${length} ${severity}`];
  });
  return parts.length === 0 ? 'no changes' : parts.join(', ');
}

/** Says how many bytes the tools take, and how many more or fewer than before. */
export function describeSize({ bytes, bytesBefore }: { bytes: number; bytesBefore: number | null }): string {
  const size = `${bytes} bytes`;
  if (bytesBefore === null || bytes === bytesBefore) return size;
  return `${size} (${bytes > bytesBefore ? '+' : '−'}${Math.abs(bytes - bytesBefore)})`;
}

/** What a model reads of each tool, in bytes, by the name of the tool; with several configurations, their names come first. */
export function listToolBytes({ configurations }: SurfaceReport): Record<string, number> {
  return Object.fromEntries(
    configurations.flatMap(({ name, tools }) =>
      tools.map((tool) => [configurations.length > 1 ? `${name}/${tool.name}` : tool.name, tool.bytes]),
    ),
  );
}
