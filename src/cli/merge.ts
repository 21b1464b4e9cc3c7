import type { Command } from 'commander';
import { listFlags } from '../gate/options/list.ts';
import { addGateOptions, readGateFlags } from './gate-options.ts';
import { addFormatOption, readFormat } from './format-flag.ts';
import type { GateProcess } from './run-flags.ts';

/** Defines `merge`: the gate for shards that have already run. */
export function defineMergeCommand(command: Command, setExitCode: (code: number) => void, context: GateProcess): void {
  const options = listFlags('merge');
  command.argument('<directories...>', 'of the shards, or the one that holds them all');
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
      const { runGate } = await import('./run-gate.ts');
      setExitCode(await runGate({ quiet: false, verbose: false, format: readFormat(flags), texts }, context));
    });
}
