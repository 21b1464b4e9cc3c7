import { statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { type ConfigurationIssue, describeError } from '../../base/errors.ts';
import { writeOutput } from '../../base/output-files.ts';
import type { Logger } from '../../base/logger.ts';
import { redactDeep, type Redactor } from '../../base/redaction.ts';
import { appendHistoryLine } from '../../history/file.ts';
import { renderHistoryLine } from '../../history/history-record.ts';
import type { Evidence } from '../../model/evidence.ts';
import type { Report } from '../../model/report.ts';
import type { Annotation } from '../../report/annotations.ts';
import { renderBadge } from '../../report/badge.ts';
import { renderCtrf } from '../../report/ctrf.ts';
import { planIssueAnnotations, renderIssueSummary } from '../../report/configuration-issues.ts';
import { renderReportJson } from '../../report/report-json.ts';
import { renderJunit } from '../../report/junit.ts';
import { renderSummary } from '../../report/summary.ts';
import { reportTo } from '../options/report-to.ts';
import type { ReportFormat } from '../options/values.ts';
import { composeLineUrl, type LineLocation } from '../plan/plan-github.ts';
import type { GatePlan } from '../plan/plan.ts';
import type { PlannedReportDir } from '../plan/report-dir.ts';

/** The destinations of a job's files and summary, and the evidence for the page. */
interface FileSinks {
  logger: Logger;
  redactor: Redactor;
  /** The file that GitHub shows as the job's summary; null elsewhere. */
  summaryPath: string | null;
  /** The results of single iterations, for the page; null if nothing was run. */
  evidence: Evidence | null;
}

/** The paths below the report directory as the user wrote it; null for a file that could not be written or was not requested. */
export interface WrittenFiles {
  reportPath: string | null;
  junitPath: string | null;
  htmlPath: string | null;
  ctrfPath: string | null;
  badgePath: string | null;
}

/**
 * Writes report.json, junit.xml and the other formats of the plan into the report directory, and adds to the history and to the job summary
 * if the plan asks for them. A gate that ran only in part adds nothing to the history. Warns about what cannot be written: presentation
 * never changes a verdict.
 */
export async function publishFiles(
  report: Report,
  plan: Pick<GatePlan, 'reportDir' | 'reportFormats' | 'summary' | 'history' | 'page'>,
  { redactor, logger, summaryPath, evidence }: FileSinks,
): Promise<WrittenFiles> {
  const attempt = async (path: string, write: () => Promise<void>): Promise<string | null> => {
    try {
      await write();
      return path;
    } catch (error) {
      logger.warning(`Could not write ${path}: ${describeError(error)}. The verdict stands.`);
      return null;
    }
  };
  const writeReportFile = (name: string, render: () => string | Promise<string>): Promise<string | null> =>
    attempt(join(plan.reportDir.label, name), async () => {
      const { path, root } = plan.reportDir;
      writeOutput(resolve(path, name), await render(), { root });
    });
  const linkLine = (location: LineLocation) =>
    plan.page === null ? null : composeLineUrl(plan.page, report.revision?.commit ?? null, location);
  const writeRedacted = (name: string, render: () => string | Promise<string>): Promise<string | null> =>
    writeReportFile(name, async () => redactor.redact(await render()));
  const writeWanted = async (format: ReportFormat, write: () => Promise<string | null>): Promise<string | null> =>
    plan.reportFormats.includes(format) ? await write() : null;

  registerReportDir(plan.reportDir);
  const reportPath = await writeRedacted('report.json', () => renderReportJson(report));
  const junitPath = await writeRedacted('junit.xml', async () => {
    return renderJunit(report);
  });
  const htmlPath = await writeWanted('html', () =>
    writeReportFile('report.html', async () => {
      const { renderHtml } = await import('../../report/html/page.ts');
      // Redacts the data of the page and not the page: its content security policy names its script by the hash.
      const { page } = plan;
      const links = page === null ? null : { ...redactDeep({ ...page }, redactor), linkLine };
      return renderHtml(redactDeep(report, redactor), { evidence: redactDeep(evidence, redactor), links });
    }),
  );
  const ctrfPath = await writeWanted('ctrf', () =>
    writeRedacted('ctrf.json', async () => {
      return renderCtrf(report);
    }),
  );
  const badgePath = await writeWanted('badge', () =>
    writeRedacted('badge.svg', async () => {
      return renderBadge(report);
    }),
  );
  const { history } = plan;
  const isCut = report.shard !== null || report.suites.some(({ stoppedEarly }) => stoppedEarly !== null);
  if (history !== null && !isCut) {
    await attempt(history.label, async () => {
      await appendHistoryLine(history.path, redactor.redact(renderHistoryLine(report)), { root: history.root });
    });
  }
  if (plan.summary && summaryPath !== null) {
    await attempt('the job summary', async () => {
      const iterations = evidence?.iterations ?? [];
      const text = redactor.redact(renderSummary(report, { iterations, linkLine }));
      appendToSummary(summaryPath, text);
    });
  }
  return { reportPath, junitPath, htmlPath, ctrfPath, badgePath };
}

/** The runner creates the directory of the summary. A path without a directory is a mistake of the job. */
function appendToSummary(path: string, text: string): void {
  statSync(dirname(path));
  writeOutput(path, text, { root: null, mode: 'append' });
}

/** Registers the directory, so that a later step of the job writes elsewhere. If this fails, that step overwrites the reports. */
function registerReportDir({ path, register }: PlannedReportDir): void {
  if (register === null) return;
  try {
    writeOutput(register, `${JSON.stringify(path)}\n`, { root: dirname(register), mode: 'append' });
  } catch {
    // This step's reports are written in any case.
  }
}

/**
 * Lists the locations that are in files below `cwd`; GitHub would not show an annotation on any other. Inline tests have the location
 * `tests`, which many repositories have as a directory.
 */
export async function findExistingFiles(
  locations: ReadonlyArray<{ readonly file?: string } | null>,
  cwd: string,
): Promise<ReadonlySet<string>> {
  const files = new Set(locations.flatMap((location) => location?.file ?? []));
  const found = await Promise.all(
    [...files].map((file) =>
      stat(resolve(cwd, file)).then(
        (found) => (found.isFile() ? [file] : []),
        () => [],
      ),
    ),
  );
  return new Set(found.flat());
}

/**
 * Adds the problems of the configuration to the job summary, and returns annotations for them, if the inputs ask for them. Reads the inputs'
 * texts, because the options could not be read. Warns about what cannot be written.
 */
export async function publishIssues(
  found: readonly ConfigurationIssue[],
  texts: Readonly<Record<string, string | undefined>>,
  { cwd, logger, redactor, summaryPath }: Omit<FileSinks, 'evidence'> & { cwd: string },
): Promise<Annotation[]> {
  // Redacts before the texts are shortened: part of a secret would not be recognized.
  const issues = redactDeep(found, redactor);
  const destinations = readDestinations(texts['report-to'] ?? '');
  if (destinations.summary && summaryPath !== null) {
    try {
      const text = redactor.redact(renderIssueSummary(issues));
      appendToSummary(summaryPath, text);
    } catch (error) {
      logger.warning(`Could not write the job summary: ${describeError(error)}.`);
    }
  }
  if (!destinations.annotations) return [];
  const existing = await findExistingFiles(issues, cwd);
  return planIssueAnnotations(issues, { fileExists: (file) => existing.has(file) });
}

/** Reads the destinations; both if the text is empty or invalid. */
function readDestinations(text: string): { summary: boolean; annotations: boolean } {
  const both = { summary: true, annotations: true };
  return text.trim() === '' ? both : (reportTo.safeParse(text).data ?? both);
}
