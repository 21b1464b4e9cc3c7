import type { Command } from 'commander';
import type { Redactor } from '../base/redaction.ts';
import { listFlags } from '../gate/options/list.ts';
import { addFormatOption, readFormat } from './format-flag.ts';
import { addGateOptions } from './gate-options.ts';
import { readSecretFlags } from './secret-flags.ts';

/** Defines `doctor`: checks, step by step, if a server is ready for evals. */
export function defineDoctorCommand(command: Command, setExitCode: (code: number) => void, redactor: Redactor): void {
  const options = listFlags('doctor');
  addGateOptions(command, options);
  addFormatOption(command);
  command
    .addHelpText(
      'after',
      `
Exits with 0 if the server is ready, and otherwise with 3. Of several servers in
an mcp-config, each must be ready.

Examples:
  $ mcp-eval-ci doctor --server-command "node build/index.js"
  $ mcp-eval-ci doctor --server-url http://127.0.0.1:3000/mcp --format json
  $ mcp-eval-ci doctor --mcp-config .mcp.json`,
    )
    .action(async (flags: Record<string, unknown>) => {
      const texts = await readSecretFlags(flags, { options, environment: process.env, redactor });
      const { examineServers } = await import('./examine-servers.ts');
      setExitCode(await examineServers(texts, { format: readFormat(flags), redactor }));
    });
}
