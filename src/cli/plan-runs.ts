import type { Command } from 'commander';
import type { Redactor } from '../base/redaction.ts';
import { listFlags } from '../gate/options/list.ts';
import { addGateOptions, readGateFlags } from './gate-options.ts';

/** Defines `plan-runs`: estimates how many iterations a policy needs, before they cost anything. */
export function definePlanRunsCommand(command: Command, setExitCode: (code: number) => void, redactor: Redactor): void {
  const options = listFlags('plan-runs');
  command.argument('[files...]', 'evals files, as if given with --evals');
  addGateOptions(command, options);
  command
    .addHelpText(
      'after',
      `
Examples:
  $ mcp-eval-ci plan-runs --policy policy.yaml --history-path history.jsonl evals/*.evals.yaml

Exit codes: 0 printed · 2 configuration or usage`,
    )
    .action(async (files: string[], flags: Record<string, unknown>) => {
      const texts = readGateFlags(flags, process.env, options);
      texts['evals'] = [texts['evals'], ...files].join('\n');
      const { estimateRuns } = await import('./estimate-runs.ts');
      await estimateRuns(texts, redactor);
      setExitCode(0);
    });
}
