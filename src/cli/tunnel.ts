import { type Command, Option } from 'commander';
import { systemClock } from '../base/time.ts';
import type { Redactor } from '../base/redaction.ts';
import { hostTunnel, planTunnel } from '../gate/host-tunnel.ts';
import { listenForInterrupts } from '../gate/host-process.ts';
import { parseTunnelOptions } from '../gate/options.ts';
import { describeProgress } from '../gate/run/progress.ts';
import { listFlags } from '../gate/options/list.ts';
import { addGateOptions } from './gate-options.ts';
import { readSecretFlags } from './secret-flags.ts';
import { createStderrLogger } from './logger.ts';

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
      const { env: environment, stdout } = process;
      const logger = createStderrLogger(redactor, { isVerbose: flags['verbose'] === true });
      const texts = readSecretFlags(flags, { options, environment, redactor });
      const parsed = parseTunnelOptions(texts);
      const plan = await planTunnel(parsed, { cwd: process.cwd(), environment });
      const signal = listenForInterrupts(process, (exitCode) => process.exit(exitCode));
      await hostTunnel(plan, {
        clock: systemClock,
        logger,
        redactor,
        signal,
        environment,
        onProgress: (progress) => logger.info(describeProgress(progress)),
        onReady: ({ id, name }) =>
          stdout.write(`${redactor.redact(JSON.stringify({ serverId: id, serverName: name }))}\n`),
      });
      // A signal is the normal end of this command.
      setExitCode(0);
    });
}
