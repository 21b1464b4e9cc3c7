import type { Command } from 'commander';
import type { Redactor } from '../base/redaction.ts';
import { listFlags } from '../gate/options/list.ts';
import { addFormatOption, readFormat } from './format-flag.ts';
import { addGateOptions } from './gate-options.ts';
import { readSecretFlags } from './secret-flags.ts';

/** Defines `tools`: lists the tools of a server with their arguments. */
export function defineToolsCommand(command: Command, setExitCode: (code: number) => void, redactor: Redactor): void {
  const options = listFlags('tools');
  addGateOptions(command, options);
  addFormatOption(command);
  command
    .addHelpText(
      'after',
      `
With --format json, prints the tools as the server lists them.

Examples:
  $ mcp-eval-ci tools --server-command "node build/index.js"
  $ mcp-eval-ci tools --server-url http://127.0.0.1:3000/mcp --format json`,
    )
    .action(async (flags: Record<string, unknown>) => {
      const texts = await readSecretFlags(flags, { options, environment: process.env, redactor });
      const { listTools } = await import('./list-tools.ts');
      await listTools(texts, { format: readFormat(flags), redactor });
      setExitCode(0);
    });
}
