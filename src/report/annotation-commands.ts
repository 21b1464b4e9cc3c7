import type { Redactor } from '../base/redaction.ts';
import type { Annotation } from './annotations.ts';
import { renderRunnerCommand } from './escape/command.ts';

/** Renders annotations as the runner's commands, a line each. Redacted first: escaping would hide a secret. */
export function renderAnnotationCommands(annotations: readonly Annotation[], redactor: Redactor): string {
  return annotations
    .map(({ level, title, message, file, startLine }) => {
      const properties = { title: redactor.redact(title), file, line: startLine };
      return `${renderRunnerCommand(level, properties, redactor.redact(message))}\n`;
    })
    .join('');
}
