import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Redactor } from '../base/redaction.ts';
import { listFlags } from '../gate/options/list.ts';
import { addGateOptions } from './gate-options.ts';
import { readSecretFlags } from './secret-flags.ts';

/** Defines `hosts`: what each known host would show a model of a server. */
export function defineHostsCommand(command: Command, setExitCode: (code: number) => void, redactor: Redactor): void {
  const options = listFlags('hosts');
  addGateOptions(command, options);
  const group = 'The hosts:';
  command.addOption(new Option('--hosts <ids>', 'The hosts, separated by commas. [all]').helpGroup(group));
  command.addOption(
    new Option(
      '--name <name>',
      'The name of the server in the configuration of the hosts, a part of most names of tools. A server of --mcp-config has its own. [server]',
    ).helpGroup(group),
  );
  command.addOption(
    new Option(
      '--corpus <file>',
      'An exploration that `mcp-eval-ci explore --corpus` wrote, whose results are reported as hosts show them.',
    ).helpGroup(group),
  );
  const before = 'The server before a change:';
  command.addOption(
    new Option(
      '--file <path>',
      'A surface file to compare with: prints only what the server makes worse and better.',
    ).helpGroup(before),
  );
  command.addOption(
    new Option(
      '--base-server-command <command>',
      'The command that starts another version of the server to compare with, instead of --file.',
    )
      .conflicts('file')
      .helpGroup(before),
  );
  command.addOption(
    new Option('--format <text|markdown|json>', 'How stdout has the report. [text]')
      .argParser((value: string) => {
        if (['text', 'markdown', 'json'].includes(value)) return value;
        throw new InvalidArgumentError('Write text, markdown or json.');
      })
      .helpGroup('Output:'),
  );
  command
    .addHelpText(
      'after',
      `
Starts the server, reads what it shows, and calls no tool and no model.

Exit codes:
  0 reported, whatever the hosts do · 2 configuration or usage · 3 the server was not reached

Examples:
  $ mcp-eval-ci hosts --server-command "node build/index.js"
  $ mcp-eval-ci hosts --server-command "node build/index.js" --corpus corpus.json
  $ mcp-eval-ci hosts --server-command "node build/index.js" --file surface.json
  $ mcp-eval-ci hosts --server-url http://127.0.0.1:3000/mcp --hosts claude-code,codex --format markdown`,
    )
    .action(async (flags: Record<string, unknown>) => {
      const texts = await readSecretFlags(flags, { options, environment: process.env, redactor });
      const { reportHosts } = await import('./report-hosts.ts');
      await reportHosts(flags, texts, redactor);
      setExitCode(0);
    });
}
