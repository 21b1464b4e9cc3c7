import { getInput } from '@actions/core';
import { listOptions } from '../gate/options.ts';
import { movedOptions } from '../gate/options/moved.ts';

/** Reads every input of the action as text, as it was written; also those that have moved, which the runner passes all the same. */
export function readInputs(): Record<string, string> {
  const names = [...listOptions(), ...movedOptions].map(({ name }) => name);
  return Object.fromEntries(names.map((name) => [name, getInput(name, { trimWhitespace: false })]));
}
