import { resolve } from 'node:path';
import { ConfigurationError } from '../base/errors.ts';
import { readReport } from '../gate/plan/read-report.ts';
import type { Report } from '../model/report.ts';

/** The cases of a gate that need another run. */
export interface FailedCases {
  /** The ids of the cases that failed or have no result, each once. */
  cases: string[];
  /** The evals files of these cases. */
  files: string[];
}

/** Lists the cases of a report that did not pass, including those that do not count. */
export function listFailedCases({ cases, suites }: Pick<Report, 'cases' | 'suites'>): FailedCases {
  const failed = cases.filter(({ outcome }) => outcome !== 'passed');
  const ofSuites = new Set(failed.map(({ suiteId }) => suiteId));
  const files = suites.flatMap(({ id, file }) => (file !== null && ofSuites.has(id) ? [file] : []));
  return { cases: [...new Set(failed.map(({ id }) => id))], files: [...new Set(files)] };
}

/**
 * Restricts the options of `run` to the cases that failed in the last run, according to its report. Without evals files, the files of the
 * report run. Null if every case passed.
 *
 * @throws {ConfigurationError} when there is no report, when it cannot be read, or when the options choose cases themselves
 */
export async function selectFailed(
  texts: Readonly<Record<string, string>>,
  { cwd, defaultReportDir }: { cwd: string; defaultReportDir: string },
): Promise<Record<string, string> | null> {
  const directory = texts['report-dir']?.trim() || defaultReportDir;
  const refuse = (code: string, message: string) => new ConfigurationError([{ input: 'failed', code, message }]);
  if ((texts['cases'] ?? '').trim() !== '') {
    throw refuse('failed-and-cases', 'chooses the cases itself; leave out `--cases`, or leave out `--failed`');
  }
  const read = await readReport(resolve(cwd, directory));
  if (read.kind === 'missing') {
    throw refuse('no-report', `there is no report in ${directory}; run without \`--failed\` first`);
  }
  if (read.kind === 'bad') throw refuse('bad-report', `the report in ${directory} cannot be used: ${read.why}`);
  const { cases, files } = listFailedCases(read.report);
  if (cases.length === 0) return null;
  const evals = (texts['evals'] ?? '').trim() === '' ? files.join('\n') : (texts['evals'] ?? '');
  return { ...texts, evals, cases: cases.join('\n') };
}
