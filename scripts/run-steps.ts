import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import pMap from 'p-map';

/** A command, and the name under which its output is shown. */
export interface Step {
  title: string;
  command: string;
  args: string[];
}

/**
 * Runs every step, also after one has failed, so that a single run shows all there is to mend. As many run at the same time
 * as there are processors, the first ones first; what a step prints is shown in one piece once it is over.
 *
 * @returns the titles of the steps that failed.
 */
export async function runSteps(steps: readonly Step[]): Promise<string[]> {
  const titles = await pMap(steps, async (step) => ((await runStep(step)) ? [] : [step.title]), {
    concurrency: availableParallelism(),
  });
  return titles.flat();
}

function runStep({ title, command, args }: Step): Promise<boolean> {
  const printed: Buffer[] = [];
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.on('data', (chunk: Buffer) => printed.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => printed.push(chunk));
  return new Promise((resolve) => {
    // A command that could not be started is closed, too.
    child.once('error', ({ message }) => printed.push(Buffer.from(`${command} could not be started: ${message}\n`)));
    child.once('close', (exitCode) => {
      process.stdout.write(`\n== ${title}\n${Buffer.concat(printed).toString()}`);
      resolve(exitCode === 0);
    });
  });
}
