import { type Command, Option } from 'commander';
import type { Redactor } from '../base/redaction.ts';
import { listFlags } from '../gate/options/list.ts';
import { addGateOptions } from './gate-options.ts';
import { readSecretFlags } from './secret-flags.ts';

/** Defines `tunnel`: makes a server reachable for a hosted service until a signal stops it. */
export function defineTunnelCommand(command: Command, setExitCode: (code: number) => void, redactor: Redactor): void {
  const options = listFlags('tunnel');
  addGateOptions(command, options);
  command
    .addOption(new Option('--verbose', 'Print what is tried and tried again, too.').helpGroup('Output:'))
    .addHelpText(
      'after',
      `
Prints one JSON line on stdout for each server, when it is reachable:
  {"serverId": …, "serverName": …}

Examples:
  $ mcp-eval-ci tunnel --server-command "node build/index.js" --service mcpjam --project demo
  $ mcp-eval-ci tunnel --server-url http://127.0.0.1:3000/mcp --service svc --base-url https://host/api/v1`,
    )
    .action(async (flags: Record<string, unknown>) => {
      const texts = await readSecretFlags(flags, { options, environment: process.env, redactor });
      const { keepTunnel } = await import('./keep-tunnel.ts');
      await keepTunnel(texts, { isVerbose: flags['verbose'] === true, redactor });
      // A signal is the normal end of this command.
      setExitCode(0);
    });
}
