import { type Command, Option } from 'commander';
import type { Redactor } from '../base/redaction.ts';
import { linkPage } from '../base/version.ts';
import { listFlags } from '../gate/options/list.ts';
import type { ExploreFlags } from './explore-server.ts';
import { addExplorationFlags } from './exploration-flags.ts';
import { addGateOptions } from './gate-options.ts';
import { readSecretFlags } from './secret-flags.ts';

/** Defines `explore`: explores a server, and writes evals from the result. */
export function defineExploreCommand(command: Command, setExitCode: (code: number) => void, redactor: Redactor): void {
  const options = listFlags('explore');
  addGateOptions(command, options);
  addExplorationFlags(command);
  const add = (flags: string, text: string) => new Option(flags, text).helpGroup('The exploration:');
  command
    .addOption(
      add('--format <text|json|markdown>', 'How stdout has the result. [text]')
        .choices(['text', 'json', 'markdown'])
        .default('text', undefined),
    )
    .addOption(add('--write <file>', 'Write an evals file from what was found; an existing file stays as it is.'))
    .addOption(add('--corpus <file>', 'Write the exploration as JSON. An existing one of the same server is enlarged.'))
    .addOption(add('--findings-only', 'Exit 1 for a finding of the severity, or of a worse one.'))
    .addOption(
      add(
        '--severity <error|warning|note>',
        'The least severity for --findings-only. [by the policy, else error]',
      ).choices(['error', 'warning', 'note']),
    )
    .addHelpText(
      'after',
      `
Each call runs against a copy of the workspace, in a sandbox without network.
See ${linkPage('explore.md')}

Exit codes:
  0 explored · 1 a finding, with --findings-only · 2 configuration or usage · 3 the server was not reached

Examples:
  $ mcp-eval-ci explore --server-command "node build/index.js"
  $ mcp-eval-ci explore --server-command "node build/index.js {{workspace}}" \\
      --workspace fixtures --write evals/explored.evals.yaml`,
    )
    .action(async (flags: ExploreFlags & Record<string, unknown>) => {
      const texts = await readSecretFlags(flags, { options, environment: process.env, redactor });
      const { runExplore } = await import('./explore-server.ts');
      setExitCode(await runExplore(flags, texts, redactor));
    });
}
