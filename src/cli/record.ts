import { type Command, Option } from 'commander';
import { listOptions } from '../gate/options.ts';
import { isFlagOf } from '../gate/options/surfaces.ts';
import { addRunFlags, type GateProcess, readRunFlags, runGate } from './run.ts';

/** Adds `record`: the gate, for the recordings of what models answer. */
export function addRecordCommand(program: Command, setExitCode: (code: number) => void, context: GateProcess): void {
  const options = listOptions().filter(({ name }) => isFlagOf('run', name) && name !== 'recordings');
  const command = program
    .command('record')
    .description('Record what models answer in cases with prompts, next to the evals files.');
  addRunFlags(command, options);
  command
    .addOption(new Option('--all', 'Record every case with a prompt, not only those without a recording that fits.'))
    .addHelpText(
      'after',
      `
Examples:
  $ mcp-eval-ci record --server-command "node build/index.js" evals/*.evals.yaml
  $ mcp-eval-ci record --server-command "node build/index.js" --cases search evals/*.evals.yaml

Exit codes:
  0 every case with a prompt or a gating judge is recorded, whether it passed or not · 2 configuration or usage
  3 an iteration could not be recorded`,
    )
    .action(async (files: string[], flags: Record<string, unknown>) => {
      const run = readRunFlags(files, flags, options);
      run.texts['recordings'] = flags['all'] === true ? 'record' : 'auto';
      setExitCode(await runGate({ ...run, isRecording: true }, context));
    });
}
