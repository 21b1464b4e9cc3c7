import { type Command, Option } from 'commander';
import type { Redactor } from '../base/redaction.ts';
import { listFlags } from '../gate/options/list.ts';
import { addFormatOption, readFormat } from './format-flag.ts';
import { addGateOptions, readGateFlags } from './gate-options.ts';

/** Defines `judge`: judges an existing report by the same or other rules. */
export function defineJudgeCommand(command: Command, setExitCode: (code: number) => void, redactor: Redactor): void {
  const options = listFlags('judge');
  command.argument('<report>', 'a report.json, or the directory that holds it');
  addGateOptions(command, options);
  addFormatOption(command);
  command
    .addOption(
      new Option('--report-dir <directory>', 'Write the reports there. Default: nowhere.').helpGroup('Reports:'),
    )
    .addHelpText('after', '\nExit codes:\n  0 passed · 1 failed · 2 configuration or usage · 3 inconclusive')
    .action(async (path: string, flags: Record<string, unknown>) => {
      const { judgeReport } = await import('./judge-report.ts');
      const reportDir = typeof flags['reportDir'] === 'string' ? flags['reportDir'] : null;
      setExitCode(
        await judgeReport(path, readGateFlags(flags, {}, options), { reportDir, redactor, format: readFormat(flags) }),
      );
    });
}
