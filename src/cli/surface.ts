import { type Command, Option } from 'commander';
import type { Redactor } from '../base/redaction.ts';
import { listFlags } from '../gate/options/list.ts';
import { addFormatOption } from './format-flag.ts';
import { addGateOptions } from './gate-options.ts';
import { readSecretFlags } from './secret-flags.ts';

/** Defines `surface`: writes the tools, prompts and resources of a server into a file, or compares them with the file. */
export function defineSurfaceCommand(command: Command, setExitCode: (code: number) => void, redactor: Redactor): void {
  const options = listFlags('surface');
  addGateOptions(command, options);
  const add = (flags: string, text: string) =>
    command.addOption(new Option(flags, text).helpGroup('The surface file:'));
  add('--file <path>', 'The surface file, which belongs in git.');
  add('--check', 'Compare the server with the file, and exit 1 for a change that the policy fails. The default.');
  add('--update', 'Write what the server shows into the file, and print what changed.');
  add('--configuration <name>', 'What the file calls the server. A server of --mcp-config has its own name. [default]');
  addFormatOption(command);
  command
    .addHelpText(
      'after',
      `
Exit codes:
  0 unchanged, changes that the policy allows, or written · 1 a change that the policy fails
  2 configuration or usage · 3 the server was not reached

Examples:
  $ mcp-eval-ci surface --server-command "node build/index.js" --file surface.json --update
  $ mcp-eval-ci surface --server-command "node build/index.js" --file surface.json --check`,
    )
    .action(async (flags: Record<string, unknown>) => {
      const texts = await readSecretFlags(flags, { options, environment: process.env, redactor });
      const { checkSurface } = await import('./check-surface.ts');
      setExitCode(await checkSurface(flags, texts, redactor));
    });
}
