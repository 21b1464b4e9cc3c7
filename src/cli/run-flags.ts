import { type Command, Option } from 'commander';
import type { Redactor } from '../base/redaction.ts';
import type { OptionDescription } from '../gate/options/define-option.ts';
import type { Report } from '../model/report.ts';
import type { Supervision } from '../supervisor/supervised.ts';
import { addFormatOption, type OutputFormat, readFormat } from './format-flag.ts';
import { addGateOptions, readGateFlags } from './gate-options.ts';

/** The redactor and the supervision of a command that runs the gate. */
export interface GateProcess {
  redactor: Redactor;
  supervision: Supervision;
}

export interface RunFlags {
  quiet: boolean;
  verbose: boolean;
  format: OutputFormat;
  /** The text of every option of the gate, by name. */
  texts: Record<string, string>;
  /** True if recordings are written next to the evals files and decide the exit code. */
  isRecording?: boolean;
  /** True if the answers of APIs are recorded next to the evals files and decide the exit code. */
  recordsUpstream?: boolean;
  updatesSnapshots?: boolean;
  /** Files that export reporters. */
  reporters?: readonly string[];
  /** True if failed expected values in the evals files are replaced by those of the results. */
  updatesLiterals?: boolean;
  /** True if the selected cases are only listed. */
  isListing?: boolean;
  /** Gets the report after it was printed. */
  onReport?: (report: Report) => void;
}

/** Adds the arguments and flags of a command that runs evals: files, the options of the gate and the output. */
export function addRunFlags(command: Command, options: readonly OptionDescription[]): void {
  command.argument('[files...]', 'evals files, as if given with --evals');
  addGateOptions(command, options);
  addFormatOption(command);
  command
    .addOption(new Option('--quiet', 'Print no progress, only the report.').helpGroup('Output:'))
    .addOption(new Option('--verbose', 'Print what is tried and tried again, too.').helpGroup('Output:'));
}

export function readRunFlags(
  files: readonly string[],
  flags: Record<string, unknown>,
  options: readonly OptionDescription[],
): RunFlags {
  const texts = readGateFlags(flags, process.env, options);
  texts['evals'] = [texts['evals'], ...files].join('\n');
  return {
    quiet: flags['quiet'] === true,
    verbose: flags['verbose'] === true,
    format: readFormat(flags),
    texts,
  };
}
