import { describeError, GateError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';

/** Says what was thrown and what to do about it; of a bug, where it is. */
export function describeFailure(error: unknown): string {
  if (!(error instanceof GateError)) {
    return `Unexpected error, please report it: ${error instanceof Error ? error.stack : describeError(error)}`;
  }
  return error.hint === undefined ? describeError(error) : `${describeError(error)}\n${error.hint}`;
}

/** Has an error that nobody catches told through the log: Node itself would print it with every secret in it. */
export function exitOnCrash(logger: Logger): void {
  process.on('uncaughtException', (error: unknown) => {
    logger.error(describeFailure(error));
    process.exit(3);
  });
}
