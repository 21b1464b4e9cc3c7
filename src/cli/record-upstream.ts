import type { Command } from 'commander';
import { listFlags } from '../gate/options/list.ts';
import { addRunFlags, type GateProcess, readRunFlags } from './run-flags.ts';

/** Options that make no sense while answers are recorded: the server of the change alone talks to the API, once for each case. */
const leftOut = /^(?:base|behaviour|shard$|suite$|suite-scope$|publish|upload)/;

/** Defines `record-upstream`: runs the gate to record what the APIs of a server answer. */
export function defineRecordUpstreamCommand(
  command: Command,
  setExitCode: (code: number) => void,
  context: GateProcess,
): void {
  const options = listFlags('run').filter(({ name }) => !leftOut.test(name));
  addRunFlags(command, options);
  command
    .addHelpText(
      'after',
      `
The suites need the key \`upstream\`, the directory of the recordings. Each case runs once, unless --runs says otherwise, one after another.

Examples:
  $ mcp-eval-ci record-upstream --server-command "node build/index.js" --server-env WEATHER_API_KEY evals/*.evals.yaml
  $ mcp-eval-ci record-upstream --server-command "node build/index.js" --cases forecast evals/*.evals.yaml

Exit codes:
  0 every request is recorded, whether the evals passed or not · 2 configuration or usage
  3 nothing was recorded, or a request could not be recorded`,
    )
    .action(async (files: string[], flags: Record<string, unknown>) => {
      const run = readRunFlags(files, flags, options);
      // The API sees each request once, in the order in which a replay answers it.
      run.texts['runs'] ||= '1';
      run.texts['concurrency'] ||= '1';
      const { runGate } = await import('./run-gate.ts');
      setExitCode(await runGate({ ...run, recordsUpstream: true }, context));
    });
}
