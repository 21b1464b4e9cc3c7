import { type ConfigurationIssue, describeError } from '../../base/errors.ts';
import { writeTextFile } from '../../base/files.ts';
import { redactDeep } from '../../base/redaction.ts';
import { type Annotation } from '../../report/annotations.ts';
import { planIssueAnnotations } from '../../report/issue-annotations.ts';
import { renderIssueSummary } from '../../report/issue-summary.ts';
import { reportTo } from '../options/report-to.ts';
import { type FileSinks, findExistingFiles } from './publish-files.ts';

/**
 * Adds what is wrong with the configuration to the job summary, and returns the annotations for it, as far as the inputs ask for
 * either. Goes by their texts: the options could not be read. What cannot be written is warned about.
 */
export async function publishIssues(
  told: readonly ConfigurationIssue[],
  texts: Readonly<Record<string, string | undefined>>,
  { cwd, logger, redactor, summaryPath }: Omit<FileSinks, 'evidence'> & { cwd: string },
): Promise<Annotation[]> {
  // Cut to size below, which a secret must not be in yet.
  const issues = redactDeep(told, redactor);
  const destinations = readDestinations(texts['report-to'] ?? '');
  if (destinations.summary && summaryPath !== null) {
    try {
      await writeTextFile(summaryPath, redactor.redact(renderIssueSummary(issues)), 'append');
    } catch (error) {
      logger.warning(`Could not write the job summary: ${describeError(error)}.`);
    }
  }
  if (!destinations.annotations) return [];
  const existing = await findExistingFiles(issues, cwd);
  return planIssueAnnotations(issues, { fileExists: (file) => existing.has(file) });
}

/** Both where the text says nothing, or nothing that can be read. */
function readDestinations(text: string): { summary: boolean; annotations: boolean } {
  const both = { summary: true, annotations: true };
  return text.trim() === '' ? both : (reportTo.safeParse(text).data ?? both);
}
