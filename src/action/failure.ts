import { describeError, GateError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';

/** Says what was thrown and what to do about it; of a bug, where it is. */
export function describeFailure(error: unknown): string {
  if (!(error instanceof GateError)) {
    return `Unexpected error, please report it: ${error instanceof Error ? error.stack : describeError(error)}`;
  }
  return error.hint === undefined ? describeError(error) : `${describeError(error)}\n${error.hint}`;
}

/** Reports uncaught errors through the redacting log: Node itself would print them with every secret in them. */
export function exitOnCrash(logger: Logger): void {
  process.on('uncaughtException', (error: unknown) => {
    logger.error(describeFailure(error));
    process.exit(3);
  });
}
