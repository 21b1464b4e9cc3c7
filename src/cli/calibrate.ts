import { type Command, Option } from 'commander';
import type { Redactor } from '../base/redaction.ts';
import type { CalibrateFlags } from './calibrate-judge.ts';
import type { RecordingsMode } from '../models/recordings/source.ts';

const modes = ['auto', 'live', 'record', 'replay'] as const satisfies readonly RecordingsMode[];

/** Defines `calibrate`: measures the agreement of a judge with labelled examples. A judge needs this to gate. */
export function defineCalibrateCommand(
  command: Command,
  setExitCode: (code: number) => void,
  redactor: Redactor,
): void {
  command
    .argument('<labels>', 'a file with a judge and labelled examples, in the directory of the evals file')
    .option('--policy <file>', 'The policy file, for the agreement that `judges` requires.')
    .addOption(
      new Option('--recordings <mode>', 'Where the answers of the judge come from, as in `run`.')
        .choices(modes)
        .default('live'),
    )
    .addHelpText(
      'after',
      `
Writes calibrations/<hash>.json next to the file.

Exit codes:
  0 the judge agrees as the policy requires · 1 it does not · 2 configuration or usage
  3 the model gave no answer`,
    )
    .action(async (path: string, flags: CalibrateFlags) => {
      const { calibrateJudge } = await import('./calibrate-judge.ts');
      setExitCode(await calibrateJudge(path, flags, redactor));
    });
}
