import type { Report } from '../model/report.ts';
import { escapeJson } from './escape/json.ts';

/** Renders `report.json`: the whole report, indented, ending in a line feed. */
export function renderReportJson(report: Report): string {
  return `${escapeJson(JSON.stringify(report, null, 2))}\n`;
}
