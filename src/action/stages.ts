import { basename } from 'node:path';
import { flushOutput, logLimitMs } from '../supervisor/flush-output.ts';
import { limitHeapGrowth } from '../gate/host-process.ts';
import { joinSupervisor } from '../supervisor/supervised.ts';
import { createJobOutput, exitOnCrash } from './action-logger.ts';
import { runMain } from './main.ts';
import { runPost } from './post.ts';

/**
 * Runs the step that the runner started, and ends the process. It is a function, so that the import of this module ends before a lazy part
 * loads that shares modules with it.
 */
export async function runStage(): Promise<never> {
  limitHeapGrowth();
  const output = createJobOutput();
  exitOnCrash(output.logger);
  if (basename(process.argv[1] ?? '') === 'post.js') process.exit(await runPost(output));
  const supervision = joinSupervisor();
  const code = await supervision.done(await runMain(output, supervision));
  await flushOutput({ limitMs: logLimitMs });
  process.exit(code);
}
