import type { SurfaceReport } from '../model/surface-report.ts';
import { screen, trim } from './document/fit.ts';
import { composeSurface } from './document/surface.ts';
import { renderTerminalBlocks, type TerminalOptions } from './terminal.ts';

/**
 * Renders a comparison of surfaces for a terminal, without a report around it: all changes, then findings and sizes. `isFirst` says that
 * the file was written without anything to compare with.
 */
export function renderSurfaceText(
  report: SurfaceReport,
  { isFirst = false, ...options }: TerminalOptions & { isFirst?: boolean },
): string {
  const section = { name: 'surface', blocks: composeSurface(report, { isFirst }) } as const;
  const detail = { ...screen, rows: Infinity };
  return renderTerminalBlocks(trim([section], detail), detail, options);
}
