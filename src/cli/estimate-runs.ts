import type { Redactor } from '../base/redaction.ts';
import { systemClock } from '../base/time.ts';
import { readGateOptions } from '../gate/options.ts';
import { planGate } from '../gate/plan/plan.ts';
import { describeRuns } from '../gate/preview-runs.ts';
import { redactText } from './command-logger.ts';

/** Prints how many iterations the suites of these options need. */
export async function estimateRuns(texts: Readonly<Record<string, string>>, redactor: Redactor): Promise<void> {
  const cwd = process.cwd();
  // A plan requires a server, but this command never starts it.
  const read = await readGateOptions({ ...texts, 'server-command': 'true' }, { cwd });
  const nowMs = systemClock.now();
  const plan = await planGate(read, { cwd, environment: process.env, nowMs });
  const lines = plan.suites.flatMap((planned) => describeRuns(planned, { ...plan, nowMs }));
  const none = 'No suite has a confidence, so that the count decides after the runs that the evals files name.';
  for (const line of lines.length === 0 ? [none] : lines) process.stdout.write(`${redactText(line, redactor)}\n`);
}
