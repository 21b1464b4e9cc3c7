import { spawnSync } from 'node:child_process';

/** A command whose output goes straight to the terminal. */
export interface Step {
  title: string;
  command: string;
  args: string[];
}

/**
 * Runs every step, also after one has failed, so that a single run shows all there is to mend.
 *
 * @returns the titles of the steps that failed.
 */
export function runSteps(steps: readonly Step[]): string[] {
  return steps.flatMap(({ title, command, args }) => {
    console.log(`\n== ${title}`);
    const { status, error } = spawnSync(command, args, { stdio: 'inherit' });
    if (error !== undefined) console.error(`${command} could not be started: ${error.message}`);
    return status === 0 ? [] : [title];
  });
}
