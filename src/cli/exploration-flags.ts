import { type Command, Option } from 'commander';

/** The flags of a command that explores a server. */
export interface ExplorationFlags {
  workspace?: string;
  seed: string;
  budget?: string;
  timeLimit: string;
  call?: 'read-only' | 'all';
  safeTool: string[];
}

/** Adds the flags of a command that explores a server. */
export function addExplorationFlags(command: Command): void {
  const add = (flags: string, text: string) => new Option(flags, text).helpGroup('The exploration:');
  command
    .addOption(
      add(
        '--workspace <directory|empty>',
        'The files that the server works with, which are copied. [a few generated files]',
      ),
    )
    .addOption(
      add('--seed <number>', 'Decides what chance decides: the same seed sends the same requests. [1]').default(
        '1',
        undefined,
      ),
    )
    .addOption(add('--budget <requests>', 'How many requests to send. [500, or 25 for each tool]'))
    .addOption(
      add('--time-limit <duration>', 'A safety stop: after it, the exploration is cut. [2m]').default('2m', undefined),
    )
    .addOption(
      add(
        '--call <read-only|all>',
        'Which tools to call. [all in a strict sandbox, else those declared read-only]',
      ).choices(['read-only', 'all']),
    )
    .addOption(
      add('--safe-tool <name>', 'Call this tool although it is not declared read-only; may be given again.')
        .default([], undefined)
        .argParser((name: string, earlier: string[]) => [...earlier, name]),
    );
}
