import type { Command } from 'commander';
import { isFlagOf } from '../gate/options/surfaces.ts';
import { listOptions } from '../gate/options.ts';
import { addGateOptions, readGateFlags } from './gate-options.ts';
import { addFormatOption, readFormat } from './output-format.ts';
import { type GateProcess, runGate } from './run.ts';

/** Adds `merge`: the gate whose shards have run already. */
export function addMergeCommand(program: Command, setExitCode: (code: number) => void, context: GateProcess): void {
  const options = listOptions().filter(({ name }) => isFlagOf('merge', name));
  const command = program
    .command('merge')
    .description('Join the reports of shards into one verdict and one report.')
    .argument('<directories...>', 'of the shards, or the one that holds them all');
  addGateOptions(command, options);
  addFormatOption(command);
  command
    .addHelpText(
      'after',
      `
Examples:
  $ mcp-eval-ci run --shard 1/2 --report-dir shards/1 … evals/*.evals.yaml
  $ mcp-eval-ci run --shard 2/2 --report-dir shards/2 … evals/*.evals.yaml
  $ mcp-eval-ci merge shards

Exit codes:
  0 passed · 1 failed · 2 configuration or usage · 3 inconclusive`,
    )
    .action(async (directories: string[], flags: Record<string, unknown>) => {
      const texts = { ...readGateFlags(flags, process.env, options), merge: directories.join('\n') };
      setExitCode(await runGate({ quiet: false, verbose: false, format: readFormat(flags), texts }, context));
    });
}
