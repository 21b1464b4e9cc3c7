import { runProgram } from '../../../src/cli/program.ts';
import { joinSupervisor } from '../../../src/supervisor/supervised.ts';
import { runBorrowed, type Surroundings } from './borrowed-process.ts';
import type { CommandResult } from './command.ts';

/**
 * Runs the command within the test's process, as its entry does: for tests of arguments, messages, files and exit codes. Tests of signals,
 * streams, the supervisor and the end of the process use `runCommand`, as does at least one passing and one failing run of each command.
 */
export function runProgramInTest(args: readonly string[], surroundings: Surroundings): Promise<CommandResult> {
  return runBorrowed(surroundings, async () => {
    const supervision = joinSupervisor();
    return await supervision.done(await runProgram(args, supervision));
  });
}
