import type { Command } from 'commander';
import { systemClock } from '../base/time.ts';
import type { Redactor } from '../base/redaction.ts';
import { readGateOptions } from '../gate/options.ts';
import { listFlags } from '../gate/options/list.ts';
import { planGate } from '../gate/plan/plan.ts';
import { describeRuns } from '../gate/preview-runs.ts';
import { addGateOptions, readGateFlags } from './gate-options.ts';
import { redactText } from './logger.ts';

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
      // A plan requires a server, but this command never starts it.
      texts['server-command'] = 'true';
      const cwd = process.cwd();
      const nowMs = systemClock.now();
      const read = await readGateOptions(texts, { cwd });
      const plan = await planGate(read, { cwd, environment: process.env, nowMs });
      const lines = plan.suites.flatMap((planned) => describeRuns(planned, { ...plan, nowMs }));
      const none = 'No suite has a confidence, so that the count decides after the runs that the evals files name.';
      for (const line of lines.length === 0 ? [none] : lines) process.stdout.write(`${redactText(line, redactor)}\n`);
      setExitCode(0);
    });
}
