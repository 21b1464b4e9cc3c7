import type { Command } from 'commander';
import type { Redactor } from '../../../../src/base/redaction.ts';
import { listFlags } from '../../../../src/gate/options/list.ts';
import { createFlag } from '../../../../src/cli/gate-options.ts';
import { createServiceOption } from './service-flag.ts';
import type { PullFlags, SyncFlags } from './sync-suites.ts';

function addServiceFlags(command: Command): Command {
  command.addOption(createServiceOption());
  for (const option of listFlags('sync')) command.addOption(createFlag(option));
  return command;
}

/** Defines `sync`: makes suites of a hosted project equal to evals files. */
export function defineSyncCommand(command: Command, setExitCode: (code: number) => void, redactor: Redactor): void {
  addServiceFlags(
    command
      .argument('<files...>', 'paths or glob patterns of evals files')
      .option('--plan', 'Print what differs, and change nothing.')
      .option('--apply', 'Print what differs, and change it.')
      .option('--prune', 'Delete what sync created and the files no longer have.')
      .option('--server <name>', 'The server of the project that the evals call. [the only one]'),
  )
    .addHelpText(
      'after',
      `
Exit codes: 0 printed or done · 2 a file or flag is wrong, or the service could not keep the file · 3 the service failed

Examples:
  $ mcp-eval-ci sync --plan --service mcpjam --project demo evals/*.evals.yaml
  $ mcp-eval-ci sync --apply --prune --service mcpjam --project demo evals/*.evals.yaml`,
    )
    .action(async (patterns: string[], flags: SyncFlags) => {
      const { syncSuites } = await import('./sync-suites.ts');
      await syncSuites(patterns, flags, redactor);
      setExitCode(0);
    });
}

/** Defines `pull`: writes a suite of a hosted project as an evals file. */
export function definePullCommand(command: Command, setExitCode: (code: number) => void, redactor: Redactor): void {
  addServiceFlags(
    command
      .argument('<suite>', 'its id or name')
      .option('--out <file>', 'Where to write it. [stdout]')
      .option('--force', 'Replace a file that is there.'),
  )
    .addHelpText('after', '\nExample:\n  $ mcp-eval-ci pull "Notes server" --service mcpjam --out notes.evals.yaml')
    .action(async (suite: string, flags: PullFlags) => {
      const { pullSuite } = await import('./sync-suites.ts');
      await pullSuite(suite, flags, redactor);
      setExitCode(0);
    });
}
