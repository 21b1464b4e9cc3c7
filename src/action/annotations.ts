import type { Redactor } from '../base/redaction.ts';
import type { Annotation } from '../report/annotations.ts';
import { renderRunnerCommand } from '../report/escape/command.ts';

/** Prints annotations as the runner's commands. Redacted first: escaping would hide a secret from the redactor. */
export function printAnnotations(annotations: readonly Annotation[], redactor: Redactor): void {
  for (const { level, title, message, file, startLine } of annotations) {
    const properties = { title: redactor.redact(title), file, line: startLine };
    process.stdout.write(`${renderRunnerCommand(level, properties, redactor.redact(message))}\n`);
  }
}
