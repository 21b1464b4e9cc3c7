import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Redactor } from '../base/redaction.ts';
import type { Report } from '../model/report.ts';
import { renderReportJson } from '../report/json.ts';
import { renderTerminal } from '../report/terminal.ts';

/** How a command prints its report on stdout: for people, or as `report.json` has it. */
export type OutputFormat = 'text' | 'json';

export function addFormatOption(command: Command): void {
  command.addOption(
    new Option('--format <text|json>', 'How stdout has the report. [text]')
      .argParser((value: string) => {
        if (value === 'text' || value === 'json') return value;
        throw new InvalidArgumentError('Write text or json.');
      })
      .helpGroup('Output:'),
  );
}

export function readFormat(flags: Readonly<Record<string, unknown>>): OutputFormat {
  return flags['format'] === 'json' ? 'json' : 'text';
}

/** Prints the report on stdout, and nothing else with it where it is JSON. */
export function printReport(report: Report, { format, redactor }: { format: OutputFormat; redactor: Redactor }): void {
  const { stdout } = process;
  const text =
    format === 'json'
      ? renderReportJson(report)
      : renderTerminal(report, { color: stdout.hasColors?.() ?? false, columns: stdout.columns });
  stdout.write(redactor.redact(text));
}
