import { getInput } from '@actions/core';
import { listOptions } from '../gate/options.ts';

/** Reads every input of the action, as text and as it was written. */
export function readInputs(): Record<string, string> {
  return Object.fromEntries(listOptions().map(({ name }) => [name, getInput(name, { trimWhitespace: false })]));
}
