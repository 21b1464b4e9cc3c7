import { type Command, Option } from 'commander';
import { linkPage } from '../base/version.ts';
import type { Redactor } from '../base/redaction.ts';
import type { CaptureFlags } from './capture-flags.ts';

/** Defines `capture`: passes a session between a client and its server through, and writes evals from it. */
export function defineCaptureCommand(command: Command, setExitCode: (code: number) => void, redactor: Redactor): void {
  const add = (flags: string, text: string) => new Option(flags, text);
  command
    .argument('[command...]', 'The command that starts the server over stdio, after `--`.')
    .addOption(add('--out <file>', 'The evals file to write; an existing one stays, and the next free name is used.'))
    .addOption(add('--append', 'Add new cases to the file of --out, and leave its other text as it is.'))
    .addOption(add('--split <rule>', 'What ends a case: a pause such as 60s, `each` call, or `never`.').default('60s'))
    .addOption(
      add('--workspace <directory>', 'Let the server work in a copy of this directory; `empty` is an empty one.'),
    )
    .addOption(
      add('--server-env <NAME=value>', 'A variable for the server, in the session and in replays; may be repeated.')
        .argParser((value, values: string[]) => [...values, value])
        .default([], 'none'),
    )
    .addOption(add('--port <number>', 'Serve streamable HTTP on this port of 127.0.0.1, until a signal stops it.'))
    .addOption(add('--url <url>', 'Pass HTTP requests on to the server at this URL, and start no server.'))
    .addOption(add('--from <file>', 'Write evals from this journal or exported session, and start no session.'))
    .addOption(add('--config <file>', 'Print the configuration of a host with `capture` in front of each server.'))
    .addOption(add('--write', 'Write the configuration of --config instead of printing it.'))
    .addOption(new Option('--recorder <place>').hideHelp())
    .addHelpText(
      'after',
      `
Put it into the configuration of an MCP host instead of the server's command. It passes every byte through and
writes evals when the session has ended. See ${linkPage('capture.md')}.

Exit codes: those of the server; without a session, 0 written · 2 configuration or usage · 3 not written

Examples:
  $ mcp-eval-ci capture --out evals/session.evals.yaml -- node build/index.js
  $ mcp-eval-ci capture --out evals/session.evals.yaml --append --workspace fixtures \\
      -- node build/index.js {{workspace}}`,
    )
    .action(async (words: string[], flags: CaptureFlags) => {
      const { capture } = await import('./capture-session.ts');
      setExitCode(await capture(words, flags, redactor));
    });
}
