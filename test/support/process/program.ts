import { runProgram } from '../../../src/cli/program.ts';
import { joinSupervisor } from '../../../src/supervisor/supervised.ts';
import { runBorrowed, type Surroundings } from './borrowed-process.ts';
import type { CommandResult } from './command.ts';

/**
 * Runs the command within the test's process, as its entry does: for tests of arguments, messages, files and exit codes. Tests of signals,
 * of its streams, its supervisor and its end use `runCommand`, and so do at least one run of each command that passes and one that fails.
 */
export function runProgramInTest(args: readonly string[], surroundings: Surroundings): Promise<CommandResult> {
  return runBorrowed(surroundings, async () => {
    const supervision = joinSupervisor();
    return await supervision.done(await runProgram(args, supervision));
  });
}
