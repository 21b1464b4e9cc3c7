import { type Command, Option } from 'commander';
import { listFlags } from '../gate/options/list.ts';
import { addRunFlags, type GateProcess, readRunFlags } from './run-flags.ts';

/** Defines `record`: runs the gate to record the answers of models. */
export function defineRecordCommand(command: Command, setExitCode: (code: number) => void, context: GateProcess): void {
  const options = listFlags('run').filter(({ name }) => name !== 'recordings');
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
      const { runGate } = await import('./run-gate.ts');
      setExitCode(await runGate({ ...run, isRecording: true }, context));
    });
}
