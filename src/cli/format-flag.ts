import { type Command, InvalidArgumentError, Option } from 'commander';

/** The form of a report on stdout: text for people, or the JSON of `report.json`. */
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
