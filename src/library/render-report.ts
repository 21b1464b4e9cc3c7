import { appendAll } from '../base/lists.ts';
import { ConfigurationError, type ConfigurationIssue } from '../base/errors.ts';
import { isRecord } from '../base/json.ts';
import type { Report } from '../model/report.ts';
import { renderAs, type RenderReportOptions, reportFormatNames, reportSettings } from '../report/render-as.ts';
import { suggestNearest } from '../suite/findings.ts';
import { findUnknownNames, refuseType, requireOptions } from './option-texts.ts';

/** @throws {ConfigurationError} for what is no report, a format that does not exist, and settings that it does not have */
export async function renderReportAs(report: Report, given: RenderReportOptions): Promise<string> {
  requireOptions(given);
  const { as, ...options } = given;
  const issues: ConfigurationIssue[] = [];
  if (!isRecord(report) || !isRecord(report.verdict)) {
    const message = refuseType(report, 'the report of a gate; `parseReport` reads one from JSON');
    issues.push({ input: 'report', code: 'bad-option-type', message });
  }
  if (reportFormatNames.includes(as)) {
    appendAll(issues, findUnknownNames(options, reportSettings[as]));
  } else {
    const hint = suggestNearest(as, reportFormatNames);
    const message = `${JSON.stringify(as)} is no format${hint}; give one of ${reportFormatNames.join(', ')}`;
    issues.push({ input: 'as', code: 'unknown-format', message });
  }
  if (issues.length > 0) throw new ConfigurationError(issues);
  return await renderAs(report, as, options);
}
