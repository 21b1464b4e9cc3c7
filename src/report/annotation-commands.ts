import type { Redactor } from '../base/redaction.ts';
import type { Annotation } from './annotations.ts';

/** Renders annotations as the runner's commands, a line each. Redacts before escaping, because escaping would hide a secret from the redactor. */
export function renderAnnotationCommands(annotations: readonly Annotation[], redactor: Redactor): string {
  return annotations
    .map(({ level, title, message, file, startLine }) => {
      const properties = { title: redactor.redact(title), file, line: startLine };
      return `${renderRunnerCommand(level, properties, redactor.redact(message))}\n`;
    })
    .join('');
}

/** Escapes the message of a runner command (actions/toolkit, core/src/command.ts `escapeData`). */
function escapeData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

/** Escapes the value of a runner command's property (`escapeProperty` there). */
function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}

/** Renders one command for the runner: `::error file=a.yaml,line=3::message`. Leaves out absent properties. */
export function renderRunnerCommand(
  name: 'error' | 'warning' | 'notice' | 'group' | 'endgroup',
  properties: Readonly<Record<string, string | number | undefined>>,
  message: string,
): string {
  const pairs = Object.entries(properties)
    .filter(([, value]) => value !== undefined && value !== '')
    .map(([key, value]) => `${key}=${escapeProperty(String(value))}`);
  return `::${name}${pairs.length === 0 ? '' : ` ${pairs.join(',')}`}::${escapeData(message)}`;
}
