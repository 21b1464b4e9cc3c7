import { ConfigurationError } from '../base/errors.ts';
import type { Report } from '../model/report.ts';
import { renderAs, type RenderReportOptions, reportFormatNames } from '../report/render-as.ts';
import { suggestNearest } from '../suite/findings.ts';
import { requireOptions } from './option-texts.ts';

/** @throws {ConfigurationError} for a format that does not exist */
export async function renderReportAs(report: Report, given: RenderReportOptions): Promise<string> {
  requireOptions(given);
  const { as, ...options } = given;
  if (reportFormatNames.includes(as)) return await renderAs(report, as, options);
  const hint = suggestNearest(as, reportFormatNames);
  const message = `${JSON.stringify(as)} is no format${hint}; give one of ${reportFormatNames.join(', ')}`;
  throw new ConfigurationError([{ input: 'as', code: 'unknown-format', message }]);
}
