import type { Command } from 'commander';
import { listFlags } from '../gate/options/list.ts';
import { addGateOptions, readGateFlags } from './gate-options.ts';
import type { GateProcess } from './run-flags.ts';

/** Defines `publish`: comments on a pull request for a job that has no permission to do so. */
export function definePublishCommand(
  command: Command,
  setExitCode: (code: number) => void,
  context: GateProcess,
): void {
  const options = listFlags('publish');
  command.argument('<report>', 'a report.json, or the directory that holds it');
  addGateOptions(command, options);
  command
    .addHelpText(
      'after',
      `
The token is read from the variable GITHUB_TOKEN or GH_TOKEN, the repository
from GITHUB_REPOSITORY. The report has to be of the newest commit of the pull
request.

Exit codes:
  0 posted, or nothing to post · 2 configuration or usage · 3 GitHub refused`,
    )
    .action(async (report: string, flags: Record<string, unknown>) => {
      const texts = { ...readGateFlags(flags, process.env, options), publish: report };
      const { runGate } = await import('./run-gate.ts');
      setExitCode(await runGate({ quiet: false, verbose: false, format: 'text', texts }, context));
    });
}
