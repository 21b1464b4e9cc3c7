import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import pMap from 'p-map';

/** A command, with the title of its output. */
export interface Step {
  title: string;
  command: string;
  args: string[];
}

/**
 * Runs every step, even after a failed one, so that one run shows all problems. It runs as many steps at the same time as there are
 * processors, in order. The output of a step is printed in one piece when it ends.
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
    // `close` also follows if a command could not be started.
    child.once('error', ({ message }) => printed.push(Buffer.from(`${command} could not be started: ${message}\n`)));
    child.once('close', (exitCode) => {
      process.stdout.write(`\n== ${title}\n${Buffer.concat(printed).toString()}`);
      resolve(exitCode === 0);
    });
  });
}
