import { basename } from 'node:path';
import { createJobOutput } from '../../../src/action/action-logger.ts';
import { runMain } from '../../../src/action/main.ts';
import { runPost } from '../../../src/action/post.ts';
import { joinSupervisor } from '../../../src/supervisor/supervised.ts';
import { borrowProcess } from '../process/borrowed-process.ts';
import { type ActionRunOptions, runAction } from './run-action.ts';
import type { runScript } from './run-script.ts';

/** Runs a job as `runAction` does, with its stages in the test's process. */
export const runActionInTest = (options: ActionRunOptions) => runAction({ ...options, runStage: runStageInTest });

/**
 * Runs a stage of this repository's action in the test's process. It calls the entry's function from the sources instead of `dist/`, and has no
 * supervisor. For tests of many jobs that do not examine the process. It cannot be cancelled, and only one may run at a time.
 */
export const runStageInTest: typeof runScript = async ({ script, cwd, env, onLine }) => {
  // The post step would wait for the gate's process, which is this one.
  using borrowed = borrowProcess({ script, cwd, env: { ...env, STATE_gateProcess: '' } });
  const output = createJobOutput();
  const exitCode = basename(script) === 'post.js' ? await runPost(output) : await runMain(output, joinSupervisor());
  const lines = borrowed.printed().split(/\r\n|\n|\r/);
  // A text that ends with a line feed has no further line.
  if (lines.at(-1) === '') lines.pop();
  for (const line of lines) onLine(line);
  return { exitCode, signal: null, sentSignals: [], leaveMs: null, isOutputHeldOpen: false };
};
