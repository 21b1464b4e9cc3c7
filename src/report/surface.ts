import type { SurfaceReport } from '../model/surface-report.ts';
import { screen, trim } from './document/fit.ts';
import { composeSurface } from './document/surface.ts';
import { renderTerminalBlocks, type TerminalOptions } from './terminal.ts';

/** Renders a comparison of surfaces for a terminal, without a report around it: all changes, then findings and sizes. */
export function renderSurfaceText(report: SurfaceReport, options: TerminalOptions): string {
  const section = { name: 'surface', blocks: composeSurface(report) } as const;
  const detail = { ...screen, rows: Infinity };
  return renderTerminalBlocks(trim([section], detail), detail, options);
}
