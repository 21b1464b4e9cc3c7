import { relative, resolve, sep } from 'node:path';
import type { Redactor } from '../base/redaction.ts';
import type { Report } from '../model/report.ts';
import { renderAnnotationCommands } from '../report/annotation-commands.ts';
import type { Annotation } from '../report/annotations.ts';
import { renderReportJson } from '../report/report-json.ts';
import { renderTerminal } from '../report/terminal.ts';
import type { OutputFormat } from './format-flag.ts';

/** Prints the report on stdout. As JSON, it is the only output there. */
export function printReport(report: Report, { format, redactor }: { format: OutputFormat; redactor: Redactor }): void {
  const { stdout } = process;
  const text =
    format === 'json'
      ? renderReportJson(report)
      : renderTerminal(report, { color: stdout.hasColors?.() ?? false, columns: stdout.columns });
  stdout.write(redactor.redact(text));
}

/**
 * Prints annotations if the command runs in a GitHub workflow. The runner reads them on stdout and stderr. Paths become relative to the
 * workspace, because the step may run in another directory.
 */
export function printAnnotations(
  annotations: readonly Annotation[],
  { redactor, stream }: { redactor: Redactor; stream: NodeJS.WritableStream },
): void {
  const { GITHUB_ACTIONS: isWorkflow, GITHUB_WORKSPACE: workspace } = process.env;
  if (isWorkflow !== 'true') return;
  const located = annotations.map((annotation) =>
    annotation.file === undefined || workspace === undefined
      ? annotation
      : { ...annotation, file: relative(workspace, resolve(annotation.file)).split(sep).join('/') },
  );
  stream.write(renderAnnotationCommands(located, redactor));
}
