import type { Report } from '../model/report.ts';
import type { CommentOptions } from './comment.ts';
import type { PageOptions } from './html/page.ts';
import type { SummaryOptions } from './summary.ts';
import type { TerminalOptions } from './terminal.ts';

/** The settings of each format of a report. */
export interface ReportFormats {
  /** For a person at a terminal. Without `color` it has no escape sequences, and `columns` is 120. */
  terminal: Partial<TerminalOptions>;
  /** Markdown with everything, as GitHub shows it as the summary of a job. */
  summary: SummaryOptions;
  /** Markdown of at most 60 KB, for a comment. */
  comment: CommentOptions;
  /** One HTML file that loads nothing. */
  html: PageOptions;
  junit: object;
  ctrf: object;
  /** An SVG image. */
  badge: object;
  /** `report.json` */
  json: object;
  /** A Code Quality report of GitLab. `relocate` writes the path of a file as the repository has it. */
  'code-quality': { relocate?: (path: string) => string };
}

type ReportFormatName = keyof ReportFormats;

/** The format of a report, and its settings. */
export type RenderReportOptions = {
  [Name in ReportFormatName]: { as: Name } & ReportFormats[Name];
}[ReportFormatName];

type Renderers = {
  [Name in ReportFormatName]: () => Promise<(report: Report, options: ReportFormats[Name]) => string>;
};

/** Each format is loaded when it is asked for: the page alone is larger than all others. */
const renderers: Renderers = {
  terminal: async () => {
    const { renderTerminal } = await import('./terminal.ts');
    return (report, { color = false, ...options }) => renderTerminal(report, { color, ...options });
  },
  summary: async () => (await import('./summary.ts')).renderSummary,
  comment: async () => (await import('./comment.ts')).renderComment,
  html: async () => (await import('./html/page.ts')).renderHtml,
  junit: async () => (await import('./junit.ts')).renderJunit,
  ctrf: async () => (await import('./ctrf.ts')).renderCtrf,
  badge: async () => (await import('./badge.ts')).renderBadge,
  json: async () => (await import('./report-json.ts')).renderReportJson,
  'code-quality': async () => (await import('./code-quality.ts')).renderCodeQuality,
};

/** The names of all formats. */
export const reportFormatNames: readonly string[] = Object.keys(renderers);

/** The names of the settings of each format. */
export const reportSettings: { [Name in ReportFormatName]: ReadonlyArray<keyof ReportFormats[Name]> } = {
  terminal: ['color', 'columns'],
  summary: ['maxBytes', 'links', 'linkLine', 'iterations'],
  comment: ['maxBytes', 'job', 'run', 'since', 'linkLine'],
  html: ['evidence', 'links', 'maxBytes'],
  junit: [],
  ctrf: [],
  badge: [],
  json: [],
  'code-quality': ['relocate'],
};

/** Writes a report in a format. */
export async function renderAs<Name extends ReportFormatName>(
  report: Report,
  name: Name,
  options: ReportFormats[Name],
): Promise<string> {
  const render = await renderers[name]();
  return render(report, options);
}
