import type { Command } from 'commander';
import { linkPage } from '../base/version.ts';
import { listFlags } from '../gate/options/list.ts';
import { addExplorationFlags } from './exploration-flags.ts';
import { addGateOptions } from './gate-options.ts';
import type { InitFlags } from './init-repository.ts';
import type { GateProcess } from './run-flags.ts';
import { readSecretFlags } from './secret-flags.ts';

/** Defines `init`: writes evals, a surface file and a workflow, or a test file, for the server of a repository, and runs the evals once. */
export function defineInitCommand(command: Command, setExitCode: (code: number) => void, context: GateProcess): void {
  const options = listFlags('init');
  addGateOptions(command, options);
  addExplorationFlags(command);
  command
    .option('--yes', 'Ask nothing: take the first way that is found to start the server.')
    .option(
      '--evals <path>',
      'The evals file to write or to extend. [evals/tools.evals.yaml]',
      'evals/tools.evals.yaml',
    )
    .option(
      '--upstream <directory>',
      'Let the server reach its API through a recorder, and write the answers there. Gates replay them.',
    )
    .option('--model <model>', 'Draft prompts for this model, commented out, as <provider>/<name>.')
    .option('--vitest', 'Write a test file of vitest next to the evals instead of the workflow.')
    .option('--no-run', 'Write the files only.')
    .addHelpText(
      'after',
      `
Exits as run does. What it writes is described in
${linkPage('init.md')}

Examples:
  $ mcp-eval-ci init
  $ mcp-eval-ci init --server-command "node build/index.js" --yes`,
    )
    .action(async (flags: InitFlags & Record<string, unknown>) => {
      const { redactor } = context;
      const given = await readSecretFlags(flags, { options, environment: process.env, redactor });
      const { initRepository } = await import('./init-repository.ts');
      setExitCode(await initRepository(flags, given, context));
    });
}
