import { Command, CommanderError, type Option } from 'commander';
import { formatCount } from '../base/text.ts';
import {
  ConfigurationError,
  describeError,
  formatConfigurationIssue,
  GateError,
  readErrorCode,
} from '../base/errors.ts';
import { createRedactor } from '../base/redaction.ts';
import { generator } from '../base/version.ts';
import { escapeTerminalText } from '../report/escape/log.ts';
import type { Supervision } from '../supervisor/supervised.ts';
import { addCommands } from './commands.ts';
import { completeBooleanFlags } from './boolean-flags.ts';
import { redactText } from './command-logger.ts';

/**
 * Runs the command with these arguments and returns the exit code: 0 passed, 1 failed, 2 configuration or usage,
 * 3 inconclusive or infrastructure, 129, 130, 131 and 143 stopped by a signal.
 */
export async function runProgram(args: readonly string[], supervision: Supervision): Promise<number> {
  let exitCode = 0;
  const program = new Command(generator.name)
    .description('Answers one question: may this change to an MCP server be merged?')
    .version(generator.version, '-V, --version')
    .helpCommand('help [command]', 'Show this help, or that of a command.')
    .showHelpAfterError('Run with --help for the options.')
    .addHelpText(
      'after',
      `
Examples:
  $ mcp-eval-ci run --server-command "node build/index.js" evals/*.evals.yaml
  $ mcp-eval-ci validate evals/everything.evals.yaml
  $ mcp-eval-ci doctor --server-command "node build/index.js"
  $ mcp-eval-ci serve --port 8787
  $ mcp-eval-ci api listProjects --base-url http://127.0.0.1:8787/api/v1

Exit codes:
  0 passed · 1 failed · 2 configuration or usage · 3 inconclusive
  129, 130, 131, 143 stopped by a signal`,
    );
  const setExitCode = (code: number) => {
    exitCode = code;
  };
  const redactor = createRedactor();
  const printFailure = (error: unknown) => process.stderr.write(`${redactText(describeFailure(error), redactor)}\n`);
  // Ignores EPIPE. A reader such as `head` closes its end when it has read enough, and that must not stop the gate or change its exit code.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error) => {
      if (readErrorCode(error) !== 'EPIPE') throw error;
    });
  }
  // Prints the error redacted; Node would print it with its secrets.
  process.on('uncaughtException', (error: unknown) => {
    printFailure(error);
    process.exit(3);
  });
  const [name, ...rest] = args;
  await addCommands(program, args, { setExitCode, redactor, supervision });
  // Sets the help on every command, because subcommands copy settings only if they are created later. The longest flag leaves descriptions
  // fewer than the 40 columns below which commander does not wrap them.
  const help = {
    minWidthToWrap: 30,
    optionTerm: ({ flags }: Option) => flags.replace(/ \[(.+)\]$/, '[=$1]'),
    subcommandTerm: (command: Command) => command.name(),
  };
  for (const command of [program, ...program.commands]) command.exitOverride().configureHelp(help);
  try {
    const command = program.commands.find((each) => each.name() === name);
    const completed = command === undefined ? args : [command.name(), ...completeBooleanFlags(rest, command)];
    await program.parseAsync(completed, { from: 'user' });
    return exitCode;
  } catch (error) {
    // Commander has already printed its message. Its code is 0 for --help and --version.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    printFailure(error);
    return error instanceof GateError ? error.exitCode : 3;
  }
}

function describeFailure(error: unknown): string {
  if (error instanceof ConfigurationError) {
    // One escaped line for each issue.
    const lines = error.issues.map((issue) => escapeTerminalText(formatConfigurationIssue(issue)));
    return [...lines, `${formatCount(lines.length, 'problem')}; nothing was run.`].join('\n');
  }
  if (error instanceof GateError) {
    const lines = error.hint === undefined ? [error.message] : [error.message, error.hint];
    return lines.map((line) => escapeTerminalText(line)).join('\n');
  }
  return `Unexpected error, please report it: ${error instanceof Error ? error.stack : describeError(error)}`;
}
