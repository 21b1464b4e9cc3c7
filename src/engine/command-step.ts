import { describeProcessEnd, type RunCommand } from '../model/process-end.ts';
import type { StepByKind } from '../cases/step.ts';
import { clipReason, joinWithin, maxListLength, printValue } from '../checks/reasons.ts';
import type { StepOutcome } from './step-outcome.ts';
import type { Transcript } from './transcript.ts';

/**
 * Runs a program next to the server. An unexpected exit code fails the step. If the program cannot be started, the iteration is given up,
 * because that says nothing about the server.
 *
 * @throws the signal's reason once it aborts
 */
export async function runCommandStep(
  { command, exitCode: expected }: StepByKind['command'],
  {
    runCommand,
    signal,
    transcript,
  }: { runCommand: RunCommand | null; signal: AbortSignal; transcript: Pick<Transcript, 'runStop'> },
): Promise<StepOutcome> {
  const [program = ''] = command;
  if (runCommand === null) {
    const reason = `The command ${printValue(program)} cannot be run here: the gate did not start the server.`;
    transcript.runStop = reason;
    return { status: 'fail', reason, effect: 'give-up' };
  }
  const { startError, signal: endedBy, ...result } = await runCommand(command, { signal });
  if (startError !== null) {
    const reason = `The command ${printValue(program)} could not be started: ${startError}.`;
    return { status: 'fail', reason: clipReason(reason), effect: 'give-up' };
  }
  if (result.exitCode === expected) return { status: 'ok', reason: null, effect: 'continue', result };
  const { exitCode, stderr, stdout } = result;
  const end = describeProcessEnd({ exitCode, signal: endedBy });
  const output = stderr.trim() === '' ? stdout : stderr;
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  const said =
    lines.length === 0 ? 'It wrote nothing.' : `Its last output: ${joinWithin(lines.slice(-3), maxListLength)}`;
  const wanted = expected === 0 ? '' : `, expected exit code ${expected}`;
  return {
    status: 'fail',
    reason: clipReason(`The command ${printValue(program)} ${end}${wanted}. ${said}`),
    effect: 'stop',
    result,
  };
}
