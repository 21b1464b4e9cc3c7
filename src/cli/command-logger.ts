import { styleText } from 'node:util';
import type { Logger } from '../base/logger.ts';
import type { Redactor } from '../base/redaction.ts';
import { escapeTerminalText } from '../report/escape/log.ts';

export interface TerminalLoggerOptions {
  write: (text: string) => void;
  redactor: Redactor;
  color: boolean;
  isQuiet: boolean;
  isVerbose: boolean;
}

/** Creates a logger for a terminal. It redacts secrets, escapes every line, and marks warnings and errors. */
export function createTerminalLogger(options: TerminalLoggerOptions): Logger {
  const { redactor, color } = options;
  const paint = (format: 'yellow' | 'red' | 'dim', text: string) =>
    color ? styleText(format, text, { validateStream: false }) : text;
  const clean = (text: string) => redactText(text, redactor).split('\n');
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

/** Creates the logger of a command whose result is on stdout. */
export function createStderrLogger(redactor: Redactor, { isVerbose = false }: { isVerbose?: boolean } = {}): Logger {
  const { stderr } = process;
  return createTerminalLogger({
    write: (text) => stderr.write(text),
    redactor,
    color: stderr.hasColors?.() ?? false,
    isQuiet: false,
    isVerbose,
  });
}

/** Removes secrets and escapes control characters in a text of several lines. */
export function redactText(text: string, redactor: Redactor): string {
  const lines = redactor.redact(text).split('\n');
  return lines.map((line) => redactLine(line, redactor)).join('\n');
}

/** Does the same and returns a single line. Redacts twice, because control characters may have separated the characters of a secret. */
export function redactLine(text: string, redactor: Redactor): string {
  return redactor.redact(escapeTerminalText(redactor.redact(text)));
}
