import { ProtocolError } from '../base/errors.ts';
import { type Report, reportSchema, reportSchemaVersion } from '../model/report.ts';
import { escapeJson } from './escape/json.ts';

/** Renders `report.json`: the whole report, indented, with lists of numbers on one line and a line feed at the end. */
export function renderReportJson(report: Report): string {
  // JSON escapes a line feed inside a string, so that no text looks like such a list.
  const text = JSON.stringify(report, null, 2).replaceAll(
    /\[\n\s*([-+\d.eE,\s]+?)\n\s*\]/g,
    (_, numbers: string) => `[${numbers.replaceAll(/,\n\s*/g, ', ')}]`,
  );
  return `${escapeJson(text)}\n`;
}

/**
 * Parses a report.
 *
 * @throws {ProtocolError} with the path of the first mismatch, if `value` is not a report of this version.
 */
export function parseReport(value: unknown): Report {
  const parsed = reportSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const version = readSchemaVersion(value);
  if (version !== null && version !== reportSchemaVersion) {
    throw new ProtocolError(
      `The report has schemaVersion ${version}, and this version of mcp-eval-ci reads ${reportSchemaVersion}. Run the gate again with this version, or use the version that wrote the report`,
      { path: 'schemaVersion', cause: parsed.error },
    );
  }
  const [issue] = parsed.error.issues;
  const path = issue?.path.join('.') ?? '';
  throw new ProtocolError(
    `This is no report of version ${reportSchemaVersion}: ${path || 'value'}: ${issue?.message}`,
    {
      path,
      hint: 'Pass a report.json that this version, or one with the same schemaVersion, has written.',
      cause: parsed.error,
    },
  );
}

function readSchemaVersion(value: unknown): string | null {
  const isReport = typeof value === 'object' && value !== null && 'schemaVersion' in value;
  return isReport && typeof value.schemaVersion === 'string' ? value.schemaVersion.slice(0, 20) : null;
}
