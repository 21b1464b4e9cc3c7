import { type Command, InvalidArgumentError, Option } from 'commander';
import { linkPage } from '../base/version.ts';
import { listFlags } from '../gate/options/list.ts';
import { addRunFlags, type GateProcess, readRunFlags } from './run-flags.ts';

/** The groups of flags of `run` that say what runs, and where. */
const groups = new Set(['What runs', 'The server under test']);

/** Flags of these groups that change no answer of a server, or need a hosted service. */
const others = new Set(['suite', 'suite-scope', 'host', 'shard', 'bail', 'dry-run', 'runs']);

/** Defines `mutate`: changes what the server answered, and counts the changes that the evals notice. */
export function defineMutateCommand(command: Command, setExitCode: (code: number) => void, context: GateProcess): void {
  const options = listFlags('run').filter(({ group, name }) => groups.has(group) && !others.has(name));
  addRunFlags(command, options);
  command
    .addOption(new Option('--write', 'Write the suggested checks into the evals files.'))
    .addOption(new Option('--fix', 'Suggest also what replaces checks that fail on harmless changes.'))
    .addOption(
      new Option(
        '--from-report <path>',
        'Take the answers from `transcripts.jsonl` of this report, and start no server.',
      ),
    )
    .addOption(new Option('--page <file>', 'Write the result as an HTML page, too.'))
    .addOption(new Option('--seed <n>', 'The seed of the draw among the changes. [1]').argParser(readSeed))
    .addHelpText(
      'after',
      `
Runs the evals twice, or takes what a report has of them, then changes one answer at a time and judges the cases that
got it again, without the server.
See ${linkPage('strength.md')}.

Exit codes:
  0 measured · 2 configuration or usage · 3 nothing could be measured

Examples:
  $ mcp-eval-ci mutate --server-command "node build/index.js" evals/*.evals.yaml
  $ mcp-eval-ci mutate --server-command "node build/index.js" --fix --write evals/*
  $ mcp-eval-ci mutate --from-report mcp-eval-report evals/*.evals.yaml`,
    )
    .action(async (files: string[], flags: Record<string, unknown>) => {
      const run = readRunFlags(files, flags, options);
      const { runMutate } = await import('./mutate-evals.ts');
      const seed = typeof flags['seed'] === 'number' ? flags['seed'] : 1;
      const [writes, fixes] = [flags['write'] === true, flags['fix'] === true];
      const fromReport = typeof flags['fromReport'] === 'string' ? flags['fromReport'] : null;
      const page = typeof flags['page'] === 'string' ? flags['page'] : null;
      setExitCode(await runMutate({ ...run, seed, writes, fixes, fromReport, page }, context));
    });
}

function readSeed(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('Write a whole number, such as 1.');
  return Number(text);
}
