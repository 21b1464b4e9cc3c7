import { styleText } from 'node:util';
import type { Logger } from '../base/logger.ts';
import type { Redactor } from '../base/redaction.ts';
import { escapeTerminalText } from '../report/escape/terminal.ts';

export interface TerminalLoggerOptions {
  write: (text: string) => void;
  redactor: Redactor;
  color: boolean;
  isQuiet: boolean;
  isVerbose: boolean;
}

/** Writes to a person's terminal: redacted, one escaped line per line, warnings and errors marked as such. */
export function createTerminalLogger(options: TerminalLoggerOptions): Logger {
  const { redactor, color } = options;
  const paint = (format: 'yellow' | 'red' | 'dim', text: string) =>
    color ? styleText(format, text, { validateStream: false }) : text;
  const clean = (text: string) => text.split('\n').map((line) => escapeTerminalText(redactor.redact(line)));
  const print = (lines: readonly string[], decorate: (line: string) => string = (line) => line) => {
    for (const line of lines) options.write(`${decorate(line)}\n`);
  };
  return {
    debug: (message) => {
      if (options.isVerbose) print(clean(message), (line) => paint('dim', line));
    },
    info: (message) => {
      if (!options.isQuiet) print(clean(message));
    },
    warning: (message) => print(clean(`Warning: ${message}`), (line) => paint('yellow', line)),
    error: (message) => print(clean(`Error: ${message}`), (line) => paint('red', line)),
    group: (title, lines) => {
      print(clean(`${title}:`));
      print(lines.flatMap(clean), (line) => `  ${paint('dim', line)}`);
    },
  };
}
