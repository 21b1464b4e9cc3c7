import { saveState } from '@actions/core';
import { describeError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import { checkCommandFile } from './command-file.ts';

/**
 * Writes down what the post step needs to clear up after a main step that was killed. Where that is not possible it is
 * warned about, once: a main step that ends by itself clears up by itself, and its verdict stands.
 */
export function createStateWriter(logger: Logger): (name: string, value: string) => void {
  let isWritable = true;
  return (name, value) => {
    if (!isWritable) return;
    try {
      checkCommandFile('GITHUB_STATE');
      saveState(name, value);
    } catch (error) {
      isWritable = false;
      logger.warning(
        `The state of the action cannot be saved: ${describeError(error)}. Should this step be killed, what it started stays behind.`,
      );
    }
  };
}
