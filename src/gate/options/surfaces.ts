import type { ConfigurationIssue } from '../../base/errors.ts';

/** The actions, and the commands with the same names. */
export type Surface = 'run' | 'merge' | 'publish';

/** Flags of the command that are not inputs of an action. */
const flagsOnly: ReadonlySet<string> = new Set([
  'base-ref',
  'base-server-cwd',
  'branch',
  'cases',
  'commit',
  'concurrency',
  'dry-run',
  'environment',
  'protocol',
  'queue-timeout',
  'server-name',
  'suite-scope',
  'tunnel',
]);

/** Options of the action and the command `merge`. */
const mergeOptions: ReadonlySet<string> = new Set([
  'min-pass-rate',
  'policy',
  'policy-ref',
  'baseline',
  'history-path',
  'report-dir',
  'report-formats',
  'report-to',
  'comment-id',
  'github-token',
]);

/** Options of the action and the command `publish`. */
const publishOptions: ReadonlySet<string> = new Set([
  'pull-number',
  'min-pass-rate',
  'policy',
  'report-to',
  'comment-id',
  'github-token',
]);

/** Options about reports to read. A command takes the reports as arguments. */
const readers: ReadonlySet<string> = new Set(['merge', 'publish', 'pull-number']);

/** Checks if a command has the option as a flag. */
export function isFlagOf(command: Surface, name: string): boolean {
  if (command === 'merge') return mergeOptions.has(name);
  if (command === 'publish') return publishOptions.has(name);
  return !readers.has(name);
}

/** Checks if an action has the option as an input. The reports of `merge` and `publish` have other input names. */
export function isInputOf(action: Surface, name: string): boolean {
  return isFlagOf(action, name) && !flagsOnly.has(name);
}

/** The input that replaces the option `merge` or `publish` in the action of that name. */
export const reportInputs = { merge: 'reports', publish: 'report' } as const;

const suiteKeys: Readonly<Record<string, string>> = {
  concurrency: 'write the key `concurrency` in the evals file, or ',
  protocol: 'write the key `protocol` in the evals file, or ',
};

/** Lists the flags of the command `run` that are not inputs of the action. */
export function listCommandFlags(): string[] {
  return [...flagsOnly];
}

/** Finds inputs of the action `run` that only the command has as flags, and says where to set them. */
export function findCommandFlags(texts: Readonly<Record<string, string>>): ConfigurationIssue[] {
  return listCommandFlags().flatMap((name) => {
    if ((texts[name] ?? '').trim() === '') return [];
    const advice = `${suiteKeys[name] ?? ''}run the command with \`--${name}\` (docs/inputs.md#flags-of-the-command)`;
    return [{ input: name, code: commandFlagCode, message: `is no input of the action; ${advice}` }];
  });
}

/** The code of an issue after which the other options are still checked. */
export const commandFlagCode = 'command-flag';
